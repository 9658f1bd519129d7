// A keep-alive connection over Bun's own sockets, one request at a time, its answers whole: cheap enough that thousands of them are held in
// one process beside what is measured.
export interface Connection {
  /** The answer to the one before must have come. */
  send(request: string): void
  end(): void
}

/** Opens one; `onAnswer` is called with each answer. `onLost`: it was closed by the other end. */
export const openConnection = async (
  { hostname, port }: URL,
  onAnswer: (status: number, body: string) => void,
  onLost: () => void,
): Promise<Connection> => {
  let held = ''
  let ended = false
  const data = (_: unknown, bytes: Buffer) => {
    held += bytes.toString('latin1') // one character for each byte, as content-length counts
    const head = held.indexOf('\r\n\r\n')
    if (head < 0) return
    const length = Number(/content-length: (\d+)/i.exec(held)![1])
    if (held.length < head + 4 + length) return
    const [status, body] = [Number(held.slice(9, 12)), held.slice(head + 4)]
    held = ''
    onAnswer(status, body)
  }
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: { open: (opened) => void opened.setNoDelay(true), data, close: () => void (ended || onLost()) },
  })
  return {
    send: (request) => void socket.write(request),
    end: () => {
      ended = true
      socket.end()
    },
  }
}
