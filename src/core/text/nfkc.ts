// Searches compare texts in NFKC and lower case (ＰＡＲＳＥＲ is parser). What they quote and mark is the text as it was written.

/** A text as searches compare it. */
export const folded = (text: string): string => text.normalize('NFKC').toLowerCase()

const CHUNK = 4_096 // characters, so that a long text is not made NFKC a dozen times

/** Where in a text that character stands which has this place in the text's NFKC. */
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

const lengthOf = (text: string, from: number, to: number) => text.slice(from, to).normalize('NFKC').length
