/** Markdown as one line of plain text, for excerpts: only the common markup is removed. */
export const toPlainText = (text: string): string =>
  text
    .replace(/^[ \t]*(?:`{3,}|~{3,}).*$/gm, '')
    .replace(/(?:\|[ \t]*:?-{2,}:?[ \t]*)+\|?/g, ' ')
    // The blanks before a mark exclude line breaks: with \s, a run of line breaks is rescanned from each of its lines, and fifty
    // descriptions of 10,000 line breaks took 5 s.
    .replace(/^[^\S\r\n\u2028\u2029]*(?:#{1,6}|>|[-*+](?:[ \t]+\[[ xX]\])?|\d+[.)])\s+/gm, '')
    .replace(/!?\[([^\][\n]{0,200})\]\([^()\s]{0,500}\)/g, '$1') // a link becomes its text
    .replace(/(\*\*|__|`+)/g, '')
    .replace(/(?<![\w*])\*([^\s*](?:[^*\n]{0,200}[^\s*])?)\*(?![\w*])/g, '$1') // but a * b and *.ts keep their stars
    .replace(/[\s|]+/g, ' ')
    .trim()
