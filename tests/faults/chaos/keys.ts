// Keys are made, used at every instance and revoked: one that was made opens, and one that was revoked opens nothing more, anywhere.
import { expect } from 'bun:test'
import { FULL } from '../../support/full.ts'
import { bearer } from '../../support/keys.ts'
import { tryOnce } from './ask.ts'
import type { Part, Scene } from './scene.ts'

// An instance trusts what it remembers for so long after it last heard itself (src/log/notifier.ts): what it is told by a network that
// stalls it hears no earlier.
const MAY_BE_DEAF_MS = 2_000
const LOOKS = FULL ? 12 : 6 // at each instance, after the revocation

interface Use {
  /** Milliseconds from the acknowledgement of the revocation to the sending of the call. */
  after: number
  status: number
}

export const useKeys = async ({ ask, urls, people, over, makeKey }: Scene): Promise<Part> => {
  const before: number[] = [] // statuses of a key that is good
  const uses: Use[] = []
  const revoked: string[] = []
  const open = (url: string, key: string) => tryOnce(url, '/api/control/list_worktrees', { body: {}, headers: bearer(key) })
  const useAndRevoke = async (name: string) => {
    const { id, key } = await makeKey('full', name)
    for (const url of urls) {
      const answer = await open(url, key)
      if (answer && answer.status !== 503) before.push(answer.status)
    }
    const ended = await ask('/settings/keys/revoke', { form: { key_id: id }, headers: { cookie: people[1] } })
    expect(ended.status).toBe(303)
    const revokedAt = performance.now()
    revoked.push(id)
    await Promise.all(
      urls.map(async (url) => {
        for (let look = 0; look < LOOKS; look++) {
          const answer = await open(url, key)
          if (answer) uses.push({ after: answer.sentAt - revokedAt, status: answer.status })
          await Bun.sleep((look * MAY_BE_DEAF_MS) / LOOKS / 4)
        }
      }),
    )
  }
  const using = async () => {
    for (let n = 0; !over.now; n++) await useAndRevoke(`Key ${n}`)
  }
  return {
    done: using(),
    async verdict(sql) {
      expect([...new Set(before)]).toEqual([200])
      expect([...new Set(uses.map(({ status }) => status))].filter((status) => ![200, 401, 503].includes(status))).toEqual([])
      const worked = uses.filter(({ status }) => status === 200).map(({ after }) => Math.round(after))
      expect(worked.filter((after) => after > MAY_BE_DEAF_MS)).toEqual([])
      const [row] = await sql<
        { ended: number }[]
      >`select count(*)::int as ended from keys where id in ${sql(revoked)} and revoked_at is not null`
      expect(row!.ended).toBe(revoked.length)
      return `${revoked.length} keys revoked and tried ${uses.length} times, ${worked.length} in vain within ${Math.max(0, ...worked)} ms`
    },
  }
}
