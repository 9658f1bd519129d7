// What the commands of this machine are told by the server that has the embedded database, when it cannot carry them out.
import { expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { purgeArguments } from '../../src/cli/purge.ts'
import { startParley } from '../support/parley.ts'
import { dataFile } from '../support/transcripts.ts'

test('a command learns what may have been done where the database was away, and what becomes of the rest where its server was told to stop', async () => {
  const own = await startParley()
  try {
    const app = await createApp(own.services, { commandSecret: 's' })
    const order = async (name: string, body: object = {}) => {
      const headers = { authorization: 'Bearer s', host: '127.0.0.1' }
      const answer = await app.fetch(
        new Request(`http://127.0.0.1/api/commands/${name}`, { method: 'POST', headers, body: JSON.stringify(body) }),
      )
      const last = JSON.parse((await answer.text()).trim().split('\n').at(-1)!)
      return last.error?.message ?? last.error
    }
    const orders = [
      ['operator-key', {}, /Whether there is a new key is unknown: run the command again/],
      ['key', { do: 'make', scope: 'read', name: 'CI' }, /Whether this was done is unknown. `bun run key list`/],
      ['purge', purgeArguments([crypto.randomUUID()]), /Run the command again\.$/],
      ['reindex', {}, /Run the command again\.$/],
      ['import', { path: dataFile('claude-code.jsonl') }, /nothing is imported twice/],
    ] as const
    const { database } = own.services
    const kept = { ...database }
    const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
    const away = async () => Promise.reject(gone)
    const db = new Proxy(database.db, {
      get() {
        throw gone
      },
    })
    Object.assign(database, { db, query: away, transaction: away, unhurried: away })
    for (const [name, body, says] of orders) {
      const message = await order(name, body)
      expect([name, message]).toEqual([name, expect.stringMatching(says)])
      expect(message).toStartWith('The database does not respond: wait until it does.')
    }
    Object.assign(database, kept)
    own.services.drain()
    expect(await order('reindex')).toBe('It stopped meanwhile. Its next start indexes the rest by itself.')
    expect(await order('import', { path: dataFile('claude-code.jsonl') })).toMatch(/is stopping.* nothing is imported twice/)
  } finally {
    await own.close()
  }
}, 120_000)
