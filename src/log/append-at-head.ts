// The way of most posts into the log: their numbers follow from where it was last seen to end, and the database writes them if it still
// ends there. Nothing is judged, and nothing but the time comes back: half of what a batch costs otherwise (bench/post).
import type { Queries } from '../../db/database.ts'
import { uuid7 } from '../core/ids.ts'
import { utf8Bytes } from '../core/text.ts'
import { writtenAt, type Appended, type Draft } from './append.ts'
import { pgArray, plainArray } from '../../db/arrays.ts'
import { CONTINUE, CONTINUE_ONE, CONTINUE_SESSION } from './append-sql.ts'
import { placeAfter, type Head, type Heads } from './heads.ts'

interface Log {
  place: number // among the sessions, from 1
  from: Head
  end: Head
}

/** Writes drafts that `heads` has an end for, and knows them to be the new ends. Undefined for those of a session whose log ends
 *  elsewhere by now: of these nothing is written, and its end is forgotten. */
export const continueLogs = async ({ query }: Queries, drafts: readonly Draft[], heads: Heads): Promise<(Appended | undefined)[]> => {
  const logs = logsOf(drafts, heads)
  const posts = drafts.map((draft) => {
    const log = logs.get(draft.sessionId)!
    log.end = placeAfter(log.end, draft)
    return { draft, log, at: log.end, id: uuid7(), content: JSON.stringify(draft.content) }
  })
  const rows = await query<Advanced>(...(posts.length === 1 ? one(posts[0]!) : many(logs, posts)))
  const times: string[] = []
  for (const { place, at } of rows) times[place] = at
  for (const [session, { place, end }] of logs) {
    if (times[place] === undefined) heads.moved(session)
    else heads.put(session, end)
  }
  return posts.map((post) => {
    const time = times[post.log.place]
    const { draft, at, id } = post
    return time === undefined ? undefined : writtenAt({ ...at, id, name: nameOf(post) ?? null, at: time }, draft)
  })
}

interface Advanced {
  place: number
  at: string
}

type Statement = [text: string, params: unknown[]]

interface Post {
  draft: Draft
  log: Log
  at: Head
  id: string
  content: string
}

// In the order of their ids: two processes that lock the same sessions do it in the same order.
const logsOf = (drafts: readonly Draft[], heads: Heads) => {
  const logs = new Map<string, Log>()
  for (const draft of drafts) {
    if (logs.has(draft.sessionId)) continue
    const head = heads.before(draft)!
    logs.set(draft.sessionId, { place: 0, from: head, end: head })
  }
  const sorted = [...logs].toSorted(([a], [b]) => (a < b ? -1 : 1))
  sorted.forEach(([, log], i) => (log.place = i + 1))
  return new Map(sorted)
}

const one = (post: Post): Statement => {
  const { draft, at, id, content } = post
  const { sessionId, type, teamId = null, replyTo = null, to } = draft
  const place = [sessionId, id, at.sequence, at.turn, at.ordinal, at.holder]
  return [CONTINUE_ONE, [...place, type, nameOf(post), teamId, content, replyTo, to ? pgArray(to) : null]]
}

const many = (logs: Map<string, Log>, posts: Post[]): Statement => {
  const each = [...logs.values()]
  const posters = new Map<string, { place: number; post: Post }>()
  const posterOf = (post: Post) => {
    const name = `${post.draft.type} ${post.draft.holder}`
    const known = posters.get(name)
    if (known) return known.place
    posters.set(name, { place: posters.size + 1, post })
    return posters.size
  }
  const who = posts.map(posterOf)
  const sparse = (of: (post: Post) => string | undefined) => (posts.some((post) => of(post) !== undefined) ? pgArray(posts.map(of)) : null)
  const ofPosters = (of: (post: Post) => string | undefined) => pgArray([...posters.values()].map(({ post }) => of(post)))
  const params = [
    plainArray([...logs.keys()]),
    plainArray(each.map(({ from }) => from.sequence)),
    plainArray(each.map(({ end }) => end.sequence)),
    plainArray(each.map(({ end }) => end.turn)),
    plainArray(each.map(({ end }) => end.ordinal)),
    pgArray(each.map(({ end }) => end.holder)),
    plainArray(posts.map(({ log }) => log.place)),
    plainArray(posts.map(({ at }) => at.sequence)),
    plainArray(posts.map(({ id }) => id)),
    plainArray(posts.map(({ at }) => at.turn)),
    plainArray(posts.map(({ at }) => at.ordinal)),
    `[${posts.map(({ content }) => content).join(',')}]`,
    plainArray(posts.map(({ content }) => utf8Bytes(content))),
    sparse(({ draft }) => draft.replyTo),
    sparse(({ draft }) => draft.to && pgArray(draft.to)),
    plainArray(who),
    ofPosters(({ draft }) => draft.type),
    ofPosters(nameOf),
    ofPosters(({ draft }) => draft.teamId),
  ]
  return [logs.size === 1 ? CONTINUE_SESSION : CONTINUE, params]
}

const nameOf = ({ draft, at }: Post) => draft.authorName ?? at.names.get(draft.teamId!)
