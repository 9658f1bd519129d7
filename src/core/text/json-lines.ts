/** Parses a stream of JSON lines as it comes in. A last line without a line break is dropped: it was cut off. */
export async function* jsonLines<Line>(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (text + decoder.decode(chunk, { stream: true })).split('\n')
    text = lines.pop()!
    for (const line of lines) yield JSON.parse(line) as Line
  }
}
