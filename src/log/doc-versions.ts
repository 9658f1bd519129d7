// Caches the newest version of each session's document, for waits: a write of a document is no event, so a held wait would not learn of it.
// Every write moves a topic of the document's, here and at the other instances. If that notification gets lost, a wait held there answers
// with the version that the document had when it began. An entry outlives the longest wait; a later wait has the version from the lookup of
// its team.
import { LRUCache } from 'lru-cache'
import { topicOf, type Topic } from './topics.ts'

export const DOC_KIND = 'doc'
const KEPT_MS = 60_000 // longer than a wait and the lookup that it began with (member-cache.ts)

/** The topic that a write of this session's document moves, to its version. */
export const docTopic = (sessionId: string): Topic => topicOf(DOC_KIND, sessionId)

export const createDocVersions = () => {
  const versions = new LRUCache<string, number>({ ttl: KEPT_MS, ttlAutopurge: true })
  return {
    moved: (sessionId: string, version: number) => void versions.set(sessionId, Math.max(version, versions.get(sessionId) ?? 0)),

    /** The document's version: `known` by an earlier lookup, or newer. No older than any write that was answered here before. */
    of: (sessionId: string, known: number): number => Math.max(known, versions.get(sessionId) ?? 0),

    forget: () => versions.clear(),
  }
}
