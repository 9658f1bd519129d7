// A change to a person's settings is text put into their text, so that taking it out leaves every byte as it was.

export interface Insertion {
  at: number
  text: string
}

export const insert = (text: string, { at, text: added }: Insertion): string => text.slice(0, at) + added + text.slice(at)

/** Takes an insertion out again, also where it has moved because something before it was edited; undefined where it is not there whole, or
 *  more than once. */
const takeOut = (text: string, { at, text: added }: Insertion): string | undefined => {
  const found = text.startsWith(added, at) ? at : onlyIndexOf(text, added)
  return found === undefined ? undefined : text.slice(0, found) + text.slice(found + added.length)
}

/** Takes out several that were made one after the other. */
export const takeOutAll = (text: string, made: Insertion[]): string | undefined =>
  made.reduceRight<string | undefined>((left, one) => (left === undefined ? undefined : takeOut(left, one)), text)

const onlyIndexOf = (text: string, part: string): number | undefined => {
  const first = text.indexOf(part)
  return first < 0 || text.includes(part, first + 1) ? undefined : first
}

/** How lines end in a text. */
export const lineEndOf = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')
