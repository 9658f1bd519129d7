/** The text with LF as line break, as in all texts that people write here: browsers send each line break of a form as CR LF. */
export const withLf = (text: string): string => text.replaceAll('\r\n', '\n')
