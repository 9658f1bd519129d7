/** A JSON object a line, as they come in. What ends without a line break is not told: it was cut off. */
export async function* jsonLines<Line>(body: ReadableStream<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    const whole = (text + decoder.decode(chunk, { stream: true })).split('\n')
    text = whole.pop()!
    for (const line of whole) yield JSON.parse(line) as Line
  }
}
