// How a command reaches the server of this machine that has the embedded database open.
import { serverOn, type Server } from '../../db/lock.ts'
import { CannotOpen } from '../../db/errors.ts'
import type { Machine } from '../client/machine.ts'
import { BadConfig, type Config } from '../config.ts'

/** The server that has the embedded database open, if one has. */
export const servingHere = async ({ DATABASE_URL, DATA_DIR }: Config, env: Machine['env']): Promise<Server | undefined> => {
  const server = DATABASE_URL ? undefined : await serverOn(DATA_DIR)
  if (server) passProxyBy(env, server.url)
  return server
}

/** Has calls of this machine, by its loopback names or the host of `url`, pass the proxy of HTTP_PROXY by: they carry secrets, and from
 *  there they would not arrive. A `*` passes all by, and only where it stands alone, for programs that are started here as well. */
export const passProxyBy = (env: Machine['env'], url?: string): void => {
  const name = env.no_proxy ? 'no_proxy' : 'NO_PROXY' // where both are set, Bun goes by the first
  if (env[name]?.trim() === '*') return
  const hosts = [...(env[name]?.split(',') ?? []), 'localhost', '127.0.0.1', '[::1]', ...(url ? [new URL(url).hostname] : [])]
  env[name] = [...new Set(hosts)].filter(Boolean).join(',')
}

/** Has the server carry out a command, and returns what it answers. Throws BadConfig or CannotOpen. */
export const command = <Answer>(server: Server, name: string, order?: object): Promise<Answer> =>
  answerOf(server.url, async () => (await responseTo(server, name, order)).json() as Promise<Answer>)

/** The same for a command that answers in lines: within `answerOf`, for it may end at each. */
export const responseTo = async ({ url, secret }: Server, name: string, order?: object): Promise<Response> => {
  const headers = { authorization: `Bearer ${secret}` }
  const body = order && { body: JSON.stringify(order) }
  // A purge or a backup answers once, when it is done, and that may take hours. The secret follows no redirect.
  const sending = { method: 'POST', headers, ...body, timeout: false, redirect: 'manual' } as const
  const response = await fetch(`${url}/api/commands/${name}`, sending)
  if (response.ok) return response
  const { error } = (await response.json()) as { error?: { message: string } }
  if (!error) throw notParley(url)
  if (order && response.status < 500) throw new BadConfig(error.message)
  throw new CannotOpen(`The server at ${url} ${response.status < 500 ? 'refused' : 'failed'}: ${error.message}`)
}

/** What the server at `url` answers. Throws CannotOpen when it ends meanwhile, and when another program answers there. */
export const answerOf = async <Result>(url: string, answer: () => Promise<Result>): Promise<Result> => {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof SyntaxError) throw notParley(url)
    if (!String((error as { code?: unknown }).code).startsWith('ECONN')) throw error
    throw endedEarly(url)
  }
}

export const endedEarly = (url: string) => new CannotOpen(`The server at ${url} ended before this was done: run the command again.`)

const notParley = (url: string) =>
  new CannotOpen(
    `Something answers at ${url} that is not Parley, although a Parley listens there with this database open. End that other program, or start Parley with another PORT, and run the command again.`,
  )
