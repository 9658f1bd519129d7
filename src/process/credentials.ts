// Sign-ins and keys as this process knows them: looked up in batches, and remembered for seconds, so that most calls cost no query. What
// ended must be refused at once, at every instance. Whoever ends one says so by a topic, upon which everything is forgotten; and what is
// remembered counts only while this instance has proof that it hears the others. One that has none asks the database each time. Pages that
// tell of an outage alone take what was last known (`evenOld`).
import { LRUCache } from 'lru-cache'
import { withinDeadline, type Database } from '../../db/database.ts'
import { isAway } from '../../db/errors.ts'
import { createBatchLoader } from '../core/runtime/batch-loader.ts'
import { sameText, sha256, type Token } from '../core/ids.ts'
import type { Job } from '../core/runtime/job.ts'
import { isKey } from '../core/key-scopes.ts'
import { findKeys, noteKeyUse, type Key } from '../stores/keys.ts'
import { findSignIns, noteSignInUse, type SignIn } from '../stores/sign-ins.ts'

const KEPT = 10_000
const KEPT_MS = 5_000
const USES_WRITTEN_EVERY_MS = 5_000

/** The kinds of topics by which the end of a sign-in or a key is told. */
export const SIGN_IN_KIND = 'sign-in'
export const KEY_KIND = 'key'

export type Credentials = ReturnType<typeof createCredentials>

/** `isUpToDate`: whether what other instances notify of has come through until now. With `evenOld` a lookup returns what it found last,
 *  however old, while the database is away. */
export const createCredentials = (database: Database, isUpToDate: () => boolean) => {
  const signIns = remembered((ids: string[]) => findSignIns(database, ids), isUpToDate)
  const keys = remembered((hashes: string[]) => findKeys(database, hashes), isUpToDate)
  const signInUses = lastUses((ids) => noteSignInUse(database, ids))
  const keyUses = lastUses((ids) => noteKeyUse(database, ids))

  return {
    /** The sign-in that a cookie names and proves; undefined when it is unknown or over. */
    async signInBy({ handle, secret }: Token, evenOld = false): Promise<SignIn | undefined> {
      const signIn = await signIns.find(handle, evenOld)
      if (!signIn || !sameText(signIn.secretHash, sha256(secret))) return undefined
      signInUses.note(signIn.id)
      return signIn
    },
    /** The key of this text; undefined when it is misshapen, unknown or revoked. */
    async keyBy(text: string, evenOld = false): Promise<Key | undefined> {
      const key = isKey(text) ? await keys.find(sha256(text), evenOld) : undefined
      if (key) keyUses.note(key.id)
      return key
    },
    /** Drops all that is remembered: some of these credentials may have ended. */
    forget() {
      signIns.forget()
      keys.forget()
    },
    /** Writes when each was used last. */
    async writeUses() {
      await signInUses.write()
      await keyUses.write()
    },
  }
}

export const lastUsesJob = ({ writeUses }: Credentials): Job => ({ name: 'last-uses', everyMs: USES_WRITTEN_EVERY_MS, run: writeUses })

const remembered = <Row extends object>(load: (names: string[]) => Promise<(Row | undefined)[]>, isUpToDate: () => boolean) => {
  const loaded = createBatchLoader(load)
  const fresh = () => new LRUCache<string, Row>({ max: KEPT, ttl: KEPT_MS, noDeleteOnStaleGet: true }) // kept for `evenOld`
  let known = fresh()
  return {
    async find(name: string, evenOld: boolean): Promise<Row | undefined> {
      const cached = isUpToDate() ? known.get(name) : undefined
      if (cached) return cached
      const into = known // before the lookup: if `forget` runs meanwhile, the stale row goes into the discarded map
      try {
        const row = await withinDeadline(loaded(name))
        if (row) into.set(name, row)
        else into.delete(name)
        return row
      } catch (error) {
        const last = evenOld && isAway(error) ? known.get(name, { allowStale: true }) : undefined
        if (!last) throw error
        return last
      }
    },
    forget: () => void (known = fresh()),
  }
}

const MINUTE_MS = 60_000

// Notes uses to the minute: a credential that is used without pause is written once a minute.
const lastUses = (save: (ids: string[]) => Promise<void>) => {
  const noted = new LRUCache<string, number>({ max: KEPT })
  let unwritten = new Set<string>()
  return {
    note(id: string) {
      const minute = Math.floor(Date.now() / MINUTE_MS)
      if (noted.get(id) === minute) return
      noted.set(id, minute)
      unwritten.add(id)
    },
    async write() {
      if (unwritten.size === 0) return
      const ids = unwritten
      unwritten = new Set()
      try {
        await save([...ids])
      } catch (error) {
        unwritten = new Set([...ids, ...unwritten])
        throw error
      }
    },
  }
}
