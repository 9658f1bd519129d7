/** Markdown on one line, without its marks: only for a glance, so the common ones do. */
export const glance = (text: string): string =>
  text
    .replace(/^[ \t]*(?:`{3,}|~{3,}).*$/gm, '')
    .replace(/(?:\|[ \t]*:?-{2,}:?[ \t]*)+\|?/g, ' ')
    // What stands before a mark ends with its line: a blank that may be a line break too is read again from each line of a run, and
    // fifty descriptions of 10,000 line breaks took 5 s.
    .replace(/^[^\S\r\n\u2028\u2029]*(?:#{1,6}|>|[-*+](?:[ \t]+\[[ xX]\])?|\d+[.)])\s+/gm, '')
    .replace(/!?\[([^\][\n]{0,200})\]\([^()\s]{0,500}\)/g, '$1') // a link is its words
    .replace(/(\*\*|__|`+)/g, '')
    .replace(/(?<![\w*])\*([^\s*](?:[^*\n]{0,200}[^\s*])?)\*(?![\w*])/g, '$1') // not the stars of a * b, or of *.ts
    .replace(/[\s|]+/g, ' ')
    .trim()
