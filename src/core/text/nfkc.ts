// Searches compare texts in NFKC and lower case (ＰＡＲＳＥＲ is parser). What they quote and mark is the text as it was written.

/** A text as searches compare it. */
export const folded = (text: string): string => inNfkc(text).toLowerCase()

/** A text in NFKC, with places that are the same in lower case: İ, the one letter that becomes two characters there, is two here. */
export const inNfkc = (text: string): string => text.normalize('NFKC').replaceAll('İ', 'I\u0307')

const CHUNK = 4_096 // characters, so that a long text is not made NFKC a dozen times

/** Where in a text that character stands which has this place in what inNfkc makes of it. */
export const placeInText = (text: string, place: number): number => {
  let [from, left] = [0, place]
  for (let own = lengthOf(text, from, from + CHUNK); own <= left && from + CHUNK < text.length; own = lengthOf(text, from, from + CHUNK)) {
    from += CHUNK
    left -= own
  }
  let [least, most] = [from, Math.min(from + CHUNK, text.length)]
  while (least < most) {
    const middle = Math.ceil((least + most) / 2)
    if (lengthOf(text, from, middle) <= left) least = middle
    else most = middle - 1
  }
  return least
}

const lengthOf = (text: string, from: number, to: number) => inNfkc(text.slice(from, to)).length
