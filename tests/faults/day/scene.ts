// A server in which everything is closed that can be, on its own port, and callers of whom every byte that they are sent is kept.
import { expect } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bearer } from '../../support/keys.ts'
import { startNotifyReceiver } from '../../support/notify-receiver.ts'
import { viaMcp, viaRest } from '../../support/parley.ts'
import { recordedAt } from '../../support/recorded.ts'
import { runServer, startServer } from '../../support/server.ts'
import { databaseOf, type Engine } from '../engines.ts'

const chosen = () => `chosen-${crypto.randomUUID()}`

export type Scene = Awaited<ReturnType<typeof openDay>>

export const openDay = async (engine: Engine) => {
  const [OPERATOR_KEY, ACCESS_TOKEN, VIEWER_PASSWORD] = [chosen(), chosen(), chosen()]
  const notified = startNotifyReceiver(chosen())
  const scratch = mkdtempSync(join(tmpdir(), 'parley-day-'))
  const database = await databaseOf(engine)
  const closed = { OPERATOR_KEY, ACCESS_TOKEN, VIEWER_PASSWORD, NOTIFY_URL: notified.url, LOG_LEVEL: 'debug' }
  const server = await startServer({ ...database.environment, ...closed })
  const day = recordedAt(server.url)
  for (const [name, secret] of Object.entries({ OPERATOR_KEY, ACCESS_TOKEN, VIEWER_PASSWORD })) day.isSecret(name, secret)
  day.isSecret('the secret within NOTIFY_URL', notified.secret)
  if (engine === 'pglite') day.isSecret('the secret in the lock', JSON.parse(readFileSync(join(server.folder, 'lock'), 'utf8')).secret)

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await day.send(path, { headers })
    return { status: response.status, text: await response.text(), cookies: response.headers.getSetCookie() }
  }
  /** What a browser sends when somebody submits a form. */
  const form = async (path: string, fields: Record<string, string>, cookie?: string, refused?: 400) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...(cookie && { cookie }) }
    const response = await day.send(path, { headers, body: new URLSearchParams(fields).toString() })
    const { status } = response
    expect([path, status]).toEqual([path, refused ?? (status === 303 ? 303 : 200)])
    return { text: await response.text(), cookies: response.headers.getSetCookie() }
  }
  /** A command on the server's machine, and what it printed. */
  const command = async (...words: string[]): Promise<string> => {
    const place = database.environment.DATABASE_URL ? { ...database.environment, PORT: String(server.port) } : { DATA_DIR: server.folder }
    const { code, output } = await runServer(words, place)
    expect([code, output]).toEqual([0, expect.any(String)])
    return output
  }
  const streams: (() => Promise<void>)[] = []
  /** Reads a stream until the day ends. */
  const follow = async (path: string, headers: Record<string, string>) => {
    const response = await day.send(path, { headers })
    expect([path, response.status]).toEqual([path, 200])
    const reader = response.body!.getReader()
    const read = (async () => {
      while (!(await reader.read()).done);
    })()
    streams.push(async () => {
      await reader.cancel()
      await read
    })
  }
  const endStreams = () => Promise.all(streams.map((end) => end()))

  /** The cookie that an answer has set; its secret half is known from now on. */
  const cookieIn = (name: string, { cookies: [cookie] }: { cookies: string[] }): string => {
    const pair = cookie!.split(';')[0]!
    day.isSecret(name, pair.split('.')[1]!)
    return pair
  }
  /** The team_id that an answer has told, likewise. */
  const teamIn = (name: string, { team_id }: { team_id: string }): string => {
    day.isSecret(name, team_id.split('.')[1]!)
    return team_id
  }
  /** The token of a link, likewise. */
  const linkIn = (name: string, before: string, text: string): string => {
    const [, token] = new RegExp(`${before}([\\w-]{36}\\.[\\w-]{32})`).exec(text)!
    day.isSecret(name, token!.split('.')[1]!)
    return token!
  }
  /** The key of this scope, likewise. */
  const keyIn = (scope: string, text: string): string => {
    const [key] = new RegExp(`ca_${scope}_[0-9a-f]{32}`).exec(text)!
    day.isSecret(`the ${scope} key`, key.slice(-24))
    return key
  }
  const close = async () => {
    await notified.stop()
    await server.remove()
    await database.drop()
    rmSync(scratch, { recursive: true })
  }
  return {
    day,
    server,
    environment: database.environment,
    notified,
    scratch,
    chosen: { OPERATOR_KEY, ACCESS_TOKEN, VIEWER_PASSWORD },
    access: bearer(ACCESS_TOKEN),
    rest: viaRest(day.served),
    mcp: viaMcp(day.served),
    get,
    form,
    command,
    follow,
    endStreams,
    cookieIn,
    teamIn,
    linkIn,
    keyIn,
    close,
  }
}
