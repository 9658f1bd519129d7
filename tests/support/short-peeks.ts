// A hub at another address, where an hour passes in minutes: a peek that asks to be held for 30 s is held for a fraction of that.
export interface ShortPeeks {
  link: string
  /** How many held peeks have ended so far without a wake. */
  readonly rounds: number
  stop(): Promise<void>
}

/** `heldS`: seconds that each peek is held. All else passes as it is. */
export const withShortPeeks = (serverUrl: string, heldS: number): ShortPeeks => {
  let rounds = 0
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const query = new URLSearchParams(search)
      const isHeld = pathname.endsWith('/unread') && Number(query.get('timeout')) > 0
      if (isHeld) query.set('timeout', String(heldS))
      const { method, headers, signal } = request
      const body = request.body && (await request.arrayBuffer())
      const path = isHeld ? `${pathname}?${query}` : pathname + search
      const answer = await fetch(serverUrl + path, { method, headers, body, signal, decompress: false })
      if (!isHeld) return new Response(answer.body, answer)
      const text = await answer.text()
      if (answer.ok && !JSON.parse(text).wake) rounds++
      return new Response(text, answer)
    },
  })
  return {
    link: `http://127.0.0.1:${server.port}/mcp`,
    get rounds() {
      return rounds
    },
    stop: () => server.stop(true),
  }
}
