// What a stream's bytes are as text of a message, and back. A message is text: JSON and text/* stand in the feed as they are, all else as
// base64, which is how the protocol itself sends it over server-sent events.

export const mediaType = (contentType: string): string => contentType.split(';')[0]!.trim().toLowerCase()

type Kind = 'json' | 'text' | 'binary'

export const kindOf = (contentType: string): Kind => {
  const type = mediaType(contentType)
  if (type === 'application/json') return 'json'
  return type.startsWith('text/') ? 'text' : 'binary'
}

/** An append as the text of one message. Of JSON, the elements without the brackets of the batch, so that messages can be joined; empty for
 *  an empty batch. Throws for bytes that are not of that kind. */
export const messageText = (kind: Kind, bytes: Uint8Array): string => {
  if (kind === 'binary') return Buffer.from(bytes).toString('base64')
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  if (kind === 'text') return text
  return [JSON.parse(text)]
    .flat()
    .map((value) => JSON.stringify(value))
    .join(',')
}

/** The body that the messages make together. */
export const bodyOf = (kind: Kind, texts: string[]): string | Buffer<ArrayBuffer> => {
  if (kind === 'json') return `[${texts.join(',')}]`
  return kind === 'text' ? texts.join('') : Buffer.concat(texts.map((text) => Buffer.from(text, 'base64')))
}

/** A message as an event `data`. A line that begins with a space gets another one, which readers take away. */
export const dataEvent = (kind: Kind, text: string): string =>
  `event: data\n${lines(kind === 'json' ? `[${text}]` : text)
    .map((line) => `data:${line.startsWith(' ') ? ' ' : ''}${line}\n`)
    .join('')}\n`

const lines = (text: string): string[] => text.split(/\r\n|\r|\n/)
