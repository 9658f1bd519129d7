// A stand-in for what NOTIFY_URL leads to.
export interface Notified {
  kind: string
  session_id: string | null
  title: string
  url: string
  text: string
}

/** `secret` is part of its URL, as Slack's and ntfy's are. */
export const startNotifyReceiver = (secret = 'T024-hook-of-the-test') => {
  const bodies: Notified[] = []
  let answer: () => Response | Promise<Response> = () => new Response('ok')
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      bodies.push((await request.json()) as Notified)
      return answer()
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/${secret}`,
    secret,
    bodies,
    of: (sessionId: string) => bodies.filter(({ session_id }) => session_id === sessionId),
    answers: (next: typeof answer) => void (answer = next),
    stop: () => server.stop(true),
  }
}
