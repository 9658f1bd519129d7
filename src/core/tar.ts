// A tar archive (ustar) in memory: the same files give the same bytes, whoever makes them and when.

export interface TarFile {
  /** With folders, at most 100 characters. */
  path: string
  bytes: Uint8Array
  executable?: boolean
}

const BLOCK = 512
const encoder = new TextEncoder()

export const tarOf = (files: TarFile[]): Uint8Array<ArrayBuffer> => {
  const parts = files.flatMap((file) => [headerOf(file), padded(file.bytes)])
  const archive = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 2 * BLOCK)) // ends with two empty blocks
  let at = 0
  for (const part of parts) {
    archive.set(part, at)
    at += part.length
  }
  return archive
}

const CHECKSUM_AT = 148

const headerOf = ({ path, bytes, executable }: TarFile): Uint8Array => {
  const header = new Uint8Array(BLOCK)
  const put = (at: number, text: string) => header.set(encoder.encode(text), at)
  put(0, path)
  put(100, executable ? '0000755\0' : '0000644\0')
  put(108, '0000000\0') // owner
  put(116, '0000000\0') // group
  put(124, `${octal(bytes.length, 11)}\0`)
  put(136, `${octal(0, 11)}\0`) // time of change
  put(CHECKSUM_AT, ' '.repeat(8))
  put(156, '0') // a plain file
  put(257, 'ustar\x0000')
  put(
    CHECKSUM_AT,
    `${octal(
      header.reduce((sum, byte) => sum + byte, 0),
      6,
    )}\0 `,
  )
  return header
}

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, '0')

const padded = (bytes: Uint8Array): Uint8Array => {
  const whole = new Uint8Array(Math.ceil(bytes.length / BLOCK) * BLOCK)
  whole.set(bytes)
  return whole
}
