// What was revoked is refused at once also by an instance that no notification reaches: without proof that it hears the others it trusts
// nothing that it remembers.
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { openPostgres } from '../../db/postgres.ts'
import { revokeKey } from '../../src/control/keys/keys.ts'
import { sha256 } from '../../src/core/ids.ts'
import { endSignIn } from '../../src/process/sign-ins.ts'
import { bearer, endsWithin, keyOf, signInIdOf } from '../support/keys.ts'
import { cookieOf, room, soon, startParley, viaRest, type Parley } from '../support/parley.ts'
import { freshDatabase, startPostgres, type TestPostgres } from '../support/postgres.ts'
import { withoutNotifications } from '../support/proxy.ts'

const PROOF_LASTS_MS = 2_000

let postgres: TestPostgres
beforeAll(async () => void (postgres = await startPostgres()), 180_000)
afterAll(async () => postgres?.stop(), 180_000)

const pair = async () => {
  const { url, drop } = await freshDatabase(postgres.url)
  const proxy = await withoutNotifications(url)
  const healthy = await startParley({ opened: { database: await openPostgres(url), url, drop: async () => {} } })
  proxy.swallowing = false
  const deaf = await startParley({
    opened: { database: await openPostgres(proxy.url), url, drop: async () => {} },
    env: { VIEWER_PASSWORD: 'look only' },
  })
  const close = async () => {
    await deaf.close()
    await healthy.close()
    await proxy.close()
    await drop()
  }
  return { healthy, deaf, proxy, close }
}

const keyId = async ({ database }: Parley, key: string) =>
  (await database.query<{ id: string }>('select id from keys where key_hash = $1', [sha256(key)]))[0]!.id

test('a key and a sign-in that another instance ended are refused at once by one that has become deaf, held calls and streams within seconds', async () => {
  const { healthy, deaf, proxy, close } = await pair()
  try {
    const { id, alex } = await room(viaRest(deaf))
    const key = await keyOf(deaf, 'full')
    const cookie = await cookieOf(deaf, { name: 'Robin', role: 'person' })
    const status = async (headers: Record<string, string>) => (await deaf.send('/metrics', { headers })).status
    for (const headers of [bearer(key), { cookie }]) for (let n = 0; n < 5; n++) expect(await status(headers)).toBe(200)

    proxy.swallowing = true
    await Bun.sleep(PROOF_LASTS_MS + 100)
    for (const headers of [bearer(key), { cookie }]) expect(await status(headers)).toBe(200)
    const wait = deaf.send(`/api/sessions/${id}/wait?since_cursor=1&timeout=25`, { headers: { ...bearer(key), 'x-team-id': alex.token } })
    const streams = [
      await deaf.send(`/api/sessions/${id}/stream`, { headers: bearer(key) }),
      await deaf.send(`/api/sessions/${id}/stream`, { headers: { cookie } }),
    ]
    const ends = streams.map((stream) => endsWithin(stream, 15_000))
    await soon('it is held', () => deaf.services.waits.held === 1)

    await revokeKey(healthy.services, await keyId(healthy, key))
    await endSignIn(healthy.services, signInIdOf(cookie))
    for (const headers of [bearer(key), { cookie }]) expect(await status(headers)).toBe(401)
    expect((await wait).status).toBe(401)
    expect(await Promise.all(ends)).toEqual([true, true])
  } finally {
    await close()
  }
}, 120_000)
