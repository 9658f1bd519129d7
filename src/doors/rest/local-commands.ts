// HTTP for this server's own commands (cli/) while it holds the embedded database. The secret is in the lock file beside that database: who
// can read the file may call them.
import { Hono } from 'hono'
import { z } from 'zod'
import { CopyFailed } from '../../../db/errors.ts'
import { carryOut, keyOrder } from '../../control/keys/command.ts'
import { Refusal, refuse, type ErrorBody } from '../../core/errors.ts'
import { isAboutFile } from '../../core/file-error.ts'
import { sameText } from '../../core/ids.ts'
import { fileSource } from '../../import/source.ts'
import { importTranscript } from '../../import/transcript.ts'
import { errorBody } from '../../operations/perform.ts'
import { purge, purgeOrder } from '../../process/purge.ts'
import { newOperatorKey } from '../../process/operator-key.ts'
import type { Services } from '../../process/services.ts'
import { programPath, type ClientProgram } from './client-package.ts'
import { bodyText, json, parseJson, type Env } from '../http/http.ts'
import { baseUrl } from '../http/origin.ts'

/** 403 without `secret`, which stands in the lock file. `program`: `parley`, to whose address the answer about a key leads. */
export const commandRoutes = (services: Services, secret: string, program: ClientProgram | undefined) =>
  new Hono<Env>()
    .use('/commands/*', async (c, next) => {
      if (!sameText(c.req.header('authorization') ?? '', `Bearer ${secret}`))
        refuse('forbidden', "Only this server's own commands may call this.")
      await next()
    })
    .post('/commands/operator-key', async () =>
      json({ key: await newOperatorKey(services).catch(failed(services, 'operator-key')), base: services.base() }),
    )
    .post('/commands/key', async (c) => {
      const order = await orderIn(c.req.raw, keyOrder)
      const base = baseUrl(c, services)
      const addresses = { base, program: program && base + programPath(program) }
      return json(await carryOut(services, order, addresses).catch(failed(services, 'key')))
    })
    .post('/commands/purge', async (c) => {
      const order = await orderIn(c.req.raw, purgeOrder, IDS_LIMIT)
      c.env?.untimed?.()
      const goesOn = () => !c.req.raw.signal.aborted && !services.stopping.aborted // who gave the order may have thought better of it
      return json(await purge(services, order, goesOn).catch(failed(services, 'purge')))
    })
    .post('/commands/backup', async (c) => {
      const { to } = await orderIn(c.req.raw, backupOrder)
      c.env?.untimed?.()
      await services.database
        .copyTo?.(to)
        .catch((error) => {
          throw error instanceof CopyFailed ? new Refusal('invalid_request', error.message) : error
        })
        .catch(failed(services, 'backup'))
      return json({ copied: true })
    })
    .post('/commands/reindex', (c) => {
      c.env?.untimed?.()
      return lines(services, 'reindex', async (report) => {
        await services.indexer.rebuild(
          (done, all) => report({ done, all }),
          () => !services.stopping.aborted,
        )
        return services.stopping.aborted ? refuse('unavailable', STOPPED) : {}
      })
    })
    .post('/commands/import', async (c) => {
      const { path } = await orderIn(c.req.raw, importOrder)
      c.env?.untimed?.()
      return lines(services, 'import', async (report) => {
        try {
          const source = fileSource(path, (read) => report({ read }))
          return { report: await importTranscript(services, source) }
        } catch (error) {
          throw isAboutFile(error, path) ? new Refusal('conflict', `The server cannot read it: ${error.message}`) : error
        }
      })
    })

const backupOrder = z.object({ to: z.string() })
const importOrder = z.object({ path: z.string() })

const orderIn = async <S extends z.ZodType>(request: Request, shape: S, limit = PATH_LIMIT): Promise<z.output<S>> => {
  const { success, data } = shape.safeParse(parseJson(await bodyText(request, limit)))
  if (success) return data
  return refuse(
    'invalid_request',
    'This server does not know this command: the server may be older or newer than this program. Stop it, and start it again from this folder.',
  )
}

const PATH_LIMIT = 64 * 1024
const IDS_LIMIT = 4 * 1024 * 1024 // more than a command line holds: 2 MiB on Linux
const COMMAND = { id: 'command', effect: 'write', refuses: ['conflict'] } as const
const STOPPED = 'It stopped meanwhile. Its next start indexes the rest by itself.'

// What to do about a command when the database was away, by which it may have been carried out or not.
const THEN = {
  'operator-key': 'Whether there is a new key is unknown: run the command again, and use the key that it then shows.',
  key: 'Whether this was done is unknown. `bun run key list` tells of keys, and `bun run key revoke` ends one that nobody was shown; a sign-in link is replaced by the next one for that person.',
  purge: 'Run the command again.',
  backup: 'Run the command again.',
  reindex: 'Run the command again.',
  import: 'Run the command again: nothing is imported twice.',
}
type Command = keyof typeof THEN

const failure = (services: Services, command: Command, error: unknown): ErrorBody => {
  const { code, message, details } = errorBody(COMMAND, services, error)
  if (details.outcome !== 'unknown') return { code, message, details }
  const why = details.disk_full
    ? 'The disk of the database is full: make room there.'
    : 'The database does not respond: wait until it does.'
  return { code, message: `${why} ${THEN[command]}`, details }
}

const failed =
  (services: Services, command: Command) =>
  (error: unknown): never => {
    if (error instanceof Refusal) throw error
    const { code, message, details } = failure(services, command, error)
    return refuse(code, message, details)
  }

type Report = (line: object) => void

// One JSON object a line: the work's reports of progress, then its result or its error. The work goes on when the reader hangs up.
const lines = (services: Services, command: Command, work: (report: Report) => Promise<object>) => {
  const encoder = new TextEncoder()
  let read = true
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const report = (line: object) => void (read && controller.enqueue(encoder.encode(`${JSON.stringify(line)}\n`)))
      const last = await work(report).catch((error) => {
        const { code, message } = failure(services, command, error)
        return { error: message, code }
      })
      report(last)
      if (read) controller.close()
    },
    cancel: () => void (read = false),
  })
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
}
