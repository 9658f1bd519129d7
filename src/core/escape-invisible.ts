const INVISIBLE = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu

const nameOf = (character: string) => `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** Text with what would turn its direction or hide in it (bidi controls, tag characters) spelt out, so that it reads as it is. */
export const visible = (text: string, mark: (name: string) => string = (name) => `⟨${name}⟩`): string =>
  text.replace(INVISIBLE, (character) => mark(nameOf(character)))

/** A name or title as one line of Markdown that shows its own marks as they are. */
export const oneLine = (text: string): string => visible(text.replace(/\s+/g, ' ').trim()).replace(/[\\`*_[\]<>#]/g, '\\$&')

const LINE_END = /\r\n?|[\n\v\f\u0085\u2028\u2029]/g

/** A text as a quote in Markdown. Each of its lines is marked, whatever some reader takes for the end of one: no text can end its quote and
 *  go on as if it were ours. */
export const quote = (text: string): string => visible(text).replace(LINE_END, '\n').replace(/^/gm, '> ')
