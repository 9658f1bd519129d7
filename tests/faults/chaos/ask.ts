// Callers that do not give up: they ask one instance after another until one answers for good.
const GIVE_UP_MS = 180_000 // for what hangs
const ONE_TRY_MS = 5_000 // an instance may be frozen

export interface Answer {
  status: number
  body: any
  /** By performance.now(): when the try that was answered was sent, and when its answer was there. */
  sentAt: number
  answeredAt: number
}
export type Ask = (
  path: string,
  sending: { body?: object; form?: Record<string, string>; headers?: Record<string, string> },
) => Promise<Answer>

const PASSING = [429, 503]

/** One try at one instance; undefined when it is not answered. A form is sent as a page of that instance sends it. */
export const tryOnce: (url: string, ...of: Parameters<Ask>) => Promise<Answer | undefined> = async (url, path, { body, form, headers }) => {
  const sentAt = performance.now()
  try {
    const response = await fetch(`${url}${path}`, {
      ...((body || form) && { method: 'POST', body: form ? new URLSearchParams(form) : JSON.stringify(body) }),
      headers: { origin: url, ...(body && { 'content-type': 'application/json' }), ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(ONE_TRY_MS),
    })
    const text = await response.text()
    const parsed = response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text
    return { status: response.status, body: parsed, sentAt, answeredAt: performance.now() }
  } catch {
    return undefined
  }
}

/** Begins at any instance. A write has its key, the same at each try, and so happens once. */
export const persistent =
  (urls: string[]): Ask =>
  async (path, { headers, ...sending }) => {
    const all = { ...sending, headers: { 'idempotency-key': crypto.randomUUID(), ...headers } }
    const until = performance.now() + GIVE_UP_MS
    const last: string[] = []
    for (let at = Math.floor(Math.random() * urls.length); performance.now() < until; at++) {
      const answer = await tryOnce(urls[at % urls.length]!, path, all)
      if (answer && !PASSING.includes(answer.status)) return answer
      last[at % urls.length] = answer ? JSON.stringify(answer.body) : 'nothing'
      await Bun.sleep(50)
    }
    throw new Error(`no instance answers ${path}: ${last.join(', ')}`)
  }

/** The answer's body, or an error that says what it was. */
export const good = ({ status, body }: Answer): any => {
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return body
}
