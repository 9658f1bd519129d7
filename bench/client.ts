// A load generator in a process of its own, so that its work is not counted as the server's: keep-alive connections over Bun's own
// sockets, one request at a time on each. Reads a plan as JSON from its arguments, prints { perSecond, took } as JSON.
export interface Plan {
  url: string
  requests: { method: string; path: string; headers?: Record<string, string>; body?: string }[] // connection n sends requests[n % length]
  connections: number
  seconds: number
}

/** A request as it goes over a socket. */
export const requestText = ({ method, path, headers = {}, body = '' }: Plan['requests'][number], host: string) => {
  const lines = Object.entries({ host, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers })
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')}\r\n\r\n${body}`
}

const run = async ({ url, requests, connections, seconds }: Plan) => {
  const { hostname, port, host } = new URL(url)
  const took: number[] = []
  let failed = 0
  const begin = performance.now()
  const end = begin + seconds * 1000
  const one = (text: Buffer) =>
    new Promise<void>((resolve, reject) => {
      let start = 0
      let left = -1 // bytes of the answer still to come; -1: its head is not complete yet
      let held = ''
      const send = (socket: Bun.Socket) => {
        start = performance.now()
        socket.write(text)
      }
      const open = (socket: Bun.Socket) => {
        socket.setNoDelay(true)
        send(socket)
      }
      const data = (socket: Bun.Socket, bytes: Buffer) => {
        if (left < 0) {
          held += bytes.toString('latin1')
          const head = held.indexOf('\r\n\r\n')
          if (head < 0) return
          if (!held.startsWith('HTTP/1.1 200')) failed++
          left = Number(/content-length: (\d+)/i.exec(held)![1]) - (held.length - head - 4)
          held = ''
        } else left -= bytes.length
        if (left > 0) return
        left = -1
        const now = performance.now()
        took.push(now - start)
        if (now < end) send(socket)
        else resolve(void socket.end())
      }
      Bun.connect({ hostname, port: Number(port), socket: { open, data, error: (_, error) => reject(error) } }).catch(reject)
    })
  await Promise.all(Array.from({ length: connections }, (_, n) => one(Buffer.from(requestText(requests[n % requests.length]!, host)))))
  return { perSecond: (took.length / (performance.now() - begin)) * 1000, took, failed }
}

/** Runs a plan in a child process. */
export const loadFrom = async (plan: Plan): Promise<{ perSecond: number; took: number[] }> => {
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const result = (await new Response(child.stdout).json()) as Awaited<ReturnType<typeof run>>
  if (result.failed > 0) throw new Error(`${result.failed} requests to ${plan.requests[0]!.path} were not answered with 200`)
  return result
}

if (import.meta.main) console.log(JSON.stringify(await run(await Bun.stdin.json())))
