// A whole Parley in this process on a Postgres, with something of everything in it, and requests to it whose longest turn is measured.
import { openPostgres } from '../../../db/postgres.ts'
import { migrate } from '../../../db/migrate.ts'
import type { Options } from '../../../src/process/services.ts'
import { keyOf } from '../../support/keys.ts'
import { runnerAt } from '../../support/played-runner.ts'
import { cookieOf, done, room, viaRest, type Served } from '../../support/parley.ts'
import { freshDatabase, startPostgres } from '../../support/postgres.ts'
import { controlWith } from '../../support/control-scene.ts'
import { LOCAL, openInProcess } from '../engines.ts'
import type { Ids } from './from-schema.ts'

const HELD_MS = 100 // a generated wait may be a good one, and holds until its caller goes
const EVERY_MS = 2
const READ_BYTES = 4_000_000

export type Scene = Awaited<ReturnType<typeof openScene>>

/** The database is another process, so that this one's processor time is the server's own. */
export const openScene = async (options: Options = {}) => {
  const postgres = await startPostgres()
  const { url, drop } = await freshDatabase(postgres.url)
  const database = await openPostgres(url)
  await migrate(database)
  const parley = await openInProcess({ OPERATOR_KEY: 'operator-key-of-the-test' }, database, options)
  const send: Served['send'] = async (path, { address: _, ...sending } = {}) =>
    parley.send(new Request(`${LOCAL}${path}`, { ...sending, headers: { host: 'localhost', ...sending.headers } }))
  const served = { ...parley, send } as unknown as Served
  const close = async () => {
    await parley.close()
    await drop()
    await postgres.stop()
  }
  return { ...parley, served, close }
}

/** Sessions, teams, items, proposals, records, tasks and whoever may call. */
export const something = async ({ served, services }: Scene) => {
  const call = viaRest(served)
  const { id, alex, bea } = await room(call)
  const person = await cookieOf(served, { role: 'person', name: 'Nora' })
  const [full, runner] = [await keyOf(served, 'full'), await runnerAt(served)]
  const control = controlWith(served, full)
  const { message_id } = await done(alex('post_message', { content: 'We are done.' }))
  const { items } = await done(alex('plan_work', { items: [{ title: 'Write the lexer' }, { title: 'Test the lexer', paths: ['src'] }] }))
  const propose = async (title: string) => (await done(call('records.propose_action_item', { title }, { team: alex.token }))).id as string
  const [open, decided] = [await propose('Write the guide'), await propose('Ship on Friday')]
  const { proposal } = await done(call('records.resolve_approval', { proposal_id: decided, action: 'approve' }, { person }))
  const session = await done(control('create_session', { title: 'Parser', worktree_id: runner.worktree }))
  const sent = async () => done(control('send_prompt', { session_id: session.session_id, prompt: 'Add a test.' }))
  const { task_id } = await sent()
  await runner.take()
  await sent()
  const { invitation_id, code } = await done(call('create_invitation', { session_id: id }, { person }))
  const ids: Ids = {
    session_id: [id, id, session.session_id],
    meeting_id: [id],
    item_id: items.map(({ item_id }: { item_id: string }) => item_id),
    depends_on: items.map(({ item_id }: { item_id: string }) => item_id),
    proposal_id: [open, decided],
    record_id: [proposal.record_id],
    message_id: [message_id],
    task_id: [task_id],
    runner_id: [runner.id],
    worktree_id: [runner.worktree],
    invitation_id: [invitation_id],
    session_ids: [id],
  }
  const credentials: Record<string, string>[] = [
    { 'x-team-id': alex.token },
    { 'x-team-id': bea.token },
    { cookie: person },
    { authorization: `Bearer ${full}` },
    { authorization: `Bearer ${runner.key}` },
    { 'x-team-id': alex.handle },
    {},
  ]
  return { ids, credentials, code, team: alex.token, base: services.base() }
}
export type Something = Awaited<ReturnType<typeof something>>

export interface Sent {
  method: string
  path: string
  headers?: Record<string, string>
  body?: string
}
export interface Answered {
  status: number
  type: string
  text: string
  /** The longest that this process worked without letting others have their turn, in milliseconds of its thread's processor time. */
  turnMs: number
}

/** Sends a request, reads what comes of it, and goes after a moment. */
export const ask = async (
  send: (request: Request) => Response | Promise<Response>,
  { method, path, headers = {}, body }: Sent,
): Promise<Answered> => {
  const signal = AbortSignal.timeout(HELD_MS)
  const watched = watchTurns()
  const given = { method, headers: { host: 'localhost', ...headers }, signal, ...(body === undefined ? {} : { body }) }
  const response = await send(new Request(`${LOCAL}${path}`, given))
  const type = response.headers.get('content-type') ?? ''
  const text = type.startsWith('text/event-stream') ? await readSome(response, signal) : await response.text()
  return { status: response.status, type, text, turnMs: watched.end() }
}

const readSome = async ({ body }: Response, signal: AbortSignal): Promise<string> => {
  if (!body) return ''
  const reader = body.getReader()
  const gone = new Promise<undefined>((resolve) => signal.addEventListener('abort', () => resolve(undefined), { once: true }))
  const decoder = new TextDecoder()
  let text = ''
  while (text.length < READ_BYTES) {
    const read = await Promise.race([reader.read().catch(() => undefined), signal.aborted ? undefined : gone])
    if (!read || read.done) break
    text += decoder.decode(read.value, { stream: true })
  }
  await reader.cancel().catch(() => {})
  return text
}

/** Watches this process until `end`, which returns the longest turn, as `Answered` has it. A timer that comes every few milliseconds comes late
 *  by the piece of work that ran meanwhile. The processor time of its thread says how long that was, however busy the machine is. */
export const watchTurns = () => {
  let [last, longest] = [cpuMsNow(), 0]
  const turn = () => {
    const now = cpuMsNow()
    longest = Math.max(longest, now - last)
    last = now
  }
  const timer = setInterval(turn, EVERY_MS)
  return {
    end: () => {
      clearInterval(timer)
      turn()
      return longest
    },
  }
}

const cpuMsNow = () => {
  const { user, system } = process.threadCpuUsage() // compiling and collecting garbage in other threads hold nobody up
  return (user + system) / 1_000
}
