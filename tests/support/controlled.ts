// A server whose agents are steered by programs, as a process of its own, with keys made as a person makes them.
import { startHub } from './hub.ts'
import { bearer } from './keys.ts'

const OPERATOR_KEY = 'chosen by a person'

export type Controlled = Awaited<ReturnType<typeof startControlled>>

/** `control` calls a tool and `runner` a runner's call: they return the answer, or throw the error as JSON. `key` is for one runner. */
export const startControlled = async (env: Record<string, string> = {}) => {
  const hub = await startHub({ ...env, OPERATOR_KEY })
  const { url } = hub.server
  const signIn = new URLSearchParams({ key: OPERATOR_KEY, name: 'Robin' })
  const signedIn = await fetch(`${url}/sign-in`, { method: 'POST', body: signIn, headers: { origin: url }, redirect: 'manual' })
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!
  const newKey = async (scope: string, name: string): Promise<string> => {
    const body = new URLSearchParams({ id: crypto.randomUUID(), name, scope })
    const page = await fetch(`${url}/settings/keys`, { method: 'POST', body, headers: { cookie, origin: url } })
    return new RegExp(`ca_${scope}_[0-9a-f]{32}`).exec(await page.text())![0]
  }
  const full = await newKey('full', 'Robin')
  const key = await newKey('run', 'A runner')
  const control = async (tool: string, input: object, as = full): Promise<any> => {
    const response = await fetch(`${url}/api/${tool.includes('/') ? tool : `control/${tool}`}`, {
      method: 'POST',
      headers: bearer(as),
      body: JSON.stringify(input),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
  const feed = async (session_id: string): Promise<any[]> => {
    const response = await fetch(`${url}/api/sessions/${session_id}/messages?include_trace=true&limit=500`, { headers: bearer(full) })
    const answer: any = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer.messages
  }
  return { ...hub, url, full, key, newKey, control, feed }
}
