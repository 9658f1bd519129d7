// Optimistic append, the path of most posts: this process numbers them from where it last saw the log end, and the database writes them if
// the log still ends there. The database checks nothing else and answers only with the time, which halves the cost of a batch (bench/post).
import { pgArray, plainArray } from '../../db/arrays.ts'
import type { Queries } from '../../db/database.ts'
import { uuid7 } from '../core/ids.ts'
import { utf8Bytes } from '../core/text/text.ts'
import { APPEND_AT_HEADS } from './append-sql.ts'
import { writtenAt, type Appended, type Draft } from './append.ts'
import { numberAfter, type Head, type LogHeads } from './log-heads.ts'

/** Appends the drafts of every session whose head is cached for all of them, and advances those heads. Returns undefined, and writes
 *  nothing, for the drafts of any other session: its head is unknown for one of them, or stale. A stale head is dropped. */
export const appendAtHeads = async ({ query }: Queries, drafts: readonly Draft[], heads: LogHeads): Promise<(Appended | undefined)[]> => {
  const logs = logsOf(drafts, heads)
  if (logs.size === 0) return drafts.map(() => undefined)
  const posts = drafts.map((draft) => numbered(draft, logs.get(draft.sessionId)))
  const rows = await query<Advanced>(
    APPEND_AT_HEADS,
    paramsOf(
      logs,
      posts.filter((post) => post !== undefined),
    ),
  )
  const times: string[] = []
  for (const { place, at } of rows) times[place] = at
  for (const [session, { place, end }] of logs) {
    if (times[place] === undefined) heads.moved(session)
    else heads.put(session, end)
  }
  return posts.map((post) => {
    const time = post && times[post.log.place]
    return time === undefined ? undefined : writtenAt({ ...post!.at, id: post!.id, name: nameOf(post!) ?? null, at: time }, post!.draft)
  })
}

interface Advanced {
  place: number
  at: string
}

interface Log {
  place: number // among the sessions, from 1
  from: Head
  end: Head
}

interface NumberedPost {
  draft: Draft
  log: Log
  at: Head
  id: string
  content: string
}

// Sorted by session id: the statement finds a session's place in this list by width_bucket.
const logsOf = (drafts: readonly Draft[], heads: LogHeads): Map<string, Log> => {
  const ends = new Map<string, Head | undefined>()
  for (const draft of drafts) {
    const { sessionId } = draft
    if (!ends.has(sessionId) || ends.get(sessionId)) ends.set(sessionId, heads.headFor(draft))
  }
  const known = [...ends].flatMap(([session, head]) => (head ? [[session, head] as const] : []))
  const sorted = known.toSorted(([a], [b]) => (a < b ? -1 : 1))
  return new Map(sorted.map(([session, head], i) => [session, { place: i + 1, from: head, end: head }]))
}

const numbered = (draft: Draft, log: Log | undefined): NumberedPost | undefined => {
  if (!log) return undefined
  log.end = numberAfter(log.end, draft)
  return { draft, log, at: log.end, id: uuid7(), content: JSON.stringify(draft.content) }
}

const paramsOf = (logs: Map<string, Log>, posts: NumberedPost[]): unknown[] => {
  const ends = [...logs.values()]
  const { placeOf, posters } = postersOf(posts)
  const sparse = (of: (post: NumberedPost) => string | boolean | undefined) =>
    posts.some((post) => of(post) !== undefined) ? pgArray(posts.map(of)) : null
  return [
    plainArray([...logs.keys()]),
    plainArray(ends.map(({ from }) => from.sequence)),
    plainArray(ends.map(({ end }) => end.sequence)),
    plainArray(ends.map(({ end }) => end.turn)),
    plainArray(ends.map(({ end }) => end.ordinal)),
    pgArray(ends.map(({ end }) => end.holder)),
    plainArray(posts.map(({ log }) => log.place)),
    plainArray(posts.map(({ at }) => at.sequence)),
    plainArray(posts.map(({ id }) => id)),
    plainArray(posts.map(({ at }) => at.turn)),
    plainArray(posts.map(({ at }) => at.ordinal)),
    `[${posts.map(({ content }) => content).join(',')}]`,
    plainArray(posts.map(({ content }) => utf8Bytes(content))),
    sparse(({ draft }) => draft.replyTo),
    sparse(({ draft }) => draft.to && pgArray(draft.to)),
    plainArray(placeOf),
    pgArray(posters.map(({ draft }) => draft.type)),
    pgArray(posters.map(nameOf)),
    pgArray(posters.map(({ draft }) => draft.teamId)),
    sparse(({ draft }) => draft.expectsReply),
  ]
}

/** The distinct posters of the batch (author and type), so that their names are sent once; `placeOf` has each post's poster, from 1. */
const postersOf = (posts: NumberedPost[]) => {
  const places = new Map<string, number>()
  const posters: NumberedPost[] = []
  const placeOf = posts.map((post) => {
    const name = `${post.draft.type} ${post.draft.holder}`
    const known = places.get(name)
    if (known) return known
    places.set(name, posters.push(post))
    return posters.length
  })
  return { placeOf, posters }
}

const nameOf = ({ draft, at }: NumberedPost) => draft.authorName ?? at.names.get(draft.teamId!)
