// Our own commands on the machine where the server runs: those who can read the lock file beside the embedded database may call these.
import { Hono } from 'hono'
import { refuse } from '../../core/errors.ts'
import { sameText } from '../../core/ids.ts'
import { fileSource } from '../../import/source.ts'
import { importTranscript } from '../../import/transcript.ts'
import { errorBody } from '../../operations/perform.ts'
import { newOperatorKey } from '../../process/operator-key.ts'
import type { Services } from '../../process/services.ts'
import { bodyText, json, parseJson, type Env } from '../http/http.ts'

export const commandRoutes = (services: Services, secret: string) =>
  new Hono<Env>()
    .use('/commands/*', async (c, next) => {
      if (!sameText(c.req.header('authorization') ?? '', `Bearer ${secret}`))
        refuse('forbidden', "Only this server's own commands may call this.")
      await next()
    })
    .post('/commands/operator-key', async () => json({ key: await newOperatorKey(services) }))
    .post('/commands/reindex', (c) => {
      c.env?.untimed?.()
      return lines(services, async (tell) => ({ done: await services.indexer.rebuild((done, all) => tell({ done, all })) }))
    })
    .post('/commands/import', async (c) => {
      const { path } = parseJson(await bodyText(c.req.raw, PATH_LIMIT)) as { path: string }
      c.env?.untimed?.()
      return lines(services, async (tell) => {
        const source = fileSource(path, (read) => tell({ read }))
        return { report: await importTranscript(services, source) }
      })
    })

const PATH_LIMIT = 64 * 1024
const COMMAND = { name: 'command', effect: 'write', refuses: ['conflict'] } as const

type Tell = (said: object) => void

// What the work reports while it runs, then its result or why there is none: one JSON object a line. It runs on if nobody reads.
const lines = (services: Services, work: (tell: Tell) => Promise<object>) => {
  const encoder = new TextEncoder()
  let read = true
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const tell = (said: object) => void (read && controller.enqueue(encoder.encode(`${JSON.stringify(said)}\n`)))
      const last = await work(tell).catch((error) => {
        const { code, message } = errorBody(COMMAND, services, error)
        return { error: message, code }
      })
      tell(last)
      if (read) controller.close()
    },
    cancel: () => void (read = false),
  })
  return new Response(body, { headers: { 'content-type': 'application/x-ndjson' } })
}
