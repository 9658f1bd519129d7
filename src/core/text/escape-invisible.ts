const INVISIBLE = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu

const codePointName = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** The text with its invisible characters (bidi controls, tag characters) spelt out, so that none can change how it reads. */
export const escapeInvisible = (text: string, mark: (name: string) => string = (name) => `⟨${name}⟩`): string =>
  text.replace(INVISIBLE, (character) => mark(codePointName(character)))

/** The text as one line: the lines of a name or title could be headings. */
export const singleLine = (text: string): string => escapeInvisible(text.replace(/\s+/g, ' ').trim())

/** A name or title as one line of Markdown, with Markdown's own characters escaped. */
export const oneLine = (text: string): string => singleLine(text).replace(/[\\`*_[\]<>#]/g, '\\$&')

const LINE_END = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g

/** A text as a quote in Markdown. Everything that some reader takes for a line end begins a new quoted line: no text can end its quote and
 *  continue as if it were ours. */
export const quote = (text: string): string => escapeInvisible(text).replace(LINE_END, '\n').replace(/^/gm, '> ')
