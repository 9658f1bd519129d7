/** Markdown on one line, without its marks: only for a glance, so the common ones do. */
export const glance = (text: string): string =>
  text
    .replace(/^[ \t]*(?:`{3,}|~{3,}).*$/gm, '')
    .replace(/(?:\|[ \t]*:?-{2,}:?[ \t]*)+\|?/g, ' ')
    .replace(/^\s*(?:#{1,6}|>|[-*+](?:[ \t]+\[[ xX]\])?|\d+[.)])\s+/gm, '')
    .replace(/(\*\*|__|`+)/g, '')
    .replace(/[ \t]*\|[ \t]*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
