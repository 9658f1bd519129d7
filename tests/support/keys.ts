// Keys, sign-ins and links for tests, made as the command line and the pages make them.
import { makeKey } from '../../src/control/keys/keys.ts'
import { newKey, sha256 } from '../../src/core/ids.ts'
import { prefixOf, type KeyScope } from '../../src/core/key-scopes.ts'
import { insertKey } from '../../src/stores/keys.ts'
import { linkForPerson } from '../../src/process/sign-ins.ts'
import type { Served } from './parley.ts'

/** A key of any scope. One for an agent is made as the server makes it, for the session of its task. */
export const keyOf = async ({ services, database }: Served, scope: KeyScope, sessionId?: string): Promise<string> => {
  const name = `a ${scope} key`
  if (scope !== 'agent') return makeKey(services, { scope, name, sessionId: scope === 'sess' ? sessionId : undefined, by: 'Robin' })
  const key = newKey('agent')
  const row = { id: crypto.randomUUID(), keyHash: sha256(key), prefix: prefixOf(key), scope, name, sessionId: sessionId!, madeBy: 'a task' }
  await insertKey(database, row)
  return key
}

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

/** The id of the row that a cookie of `cookieOf` names. */
export const signInIdOf = (cookie: string) => cookie.split('=')[1]!.split('.')[0]!

/** The cookie of a person who came by a link bound to the name. */
export const verifiedCookie = async (served: Served, name: string): Promise<string> => {
  const { token } = await linkForPerson(served.services, name)
  const entered = await enterByLink(served, `${token.handle}.${token.secret}`)
  return entered.headers.get('set-cookie')!.split(';')[0]!
}

/** Presses the button of a link that signs in once. */
export const enterByLink = (served: Pick<Served, 'send'>, link: string, next = ''): Promise<Response> =>
  served.send('/sign-in', {
    method: 'POST',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ key: link, next }).toString(),
  })

/** Reads a stream to its end; resolves to whether it ended in time. */
export const endsWithin = async (response: Response, ms: number): Promise<boolean> => {
  const reader = response.body!.getReader()
  const timer = setTimeout(() => void reader.cancel('the test'), ms)
  const from = performance.now()
  for (;;) {
    const { done } = await reader.read()
    if (!done) continue
    clearTimeout(timer)
    return performance.now() - from < ms
  }
}
