// Sessions as MCP resources, for clients that let a person attach one: parley://sessions/<id>/doc, feed, conclusion, handoff.
import { escapeInvisible } from '../core/text/escape-invisible.ts'
import { idWithin, isUuid } from '../core/ids.ts'
import type { Call } from '../operations/call.ts'
import type { Completion, Offers, Resource, ResourceTemplate } from '../operations/offers.ts'
import type { Services } from '../process/services.ts'
import { readDocument } from '../stores/documents.ts'
import { eventsBefore } from '../stores/events.ts'
import { listSessions, sessionById, type Session } from '../stores/sessions.ts'
import { conclusionOf } from './document/conclusion.ts'
import { handoffOf } from './handoff.ts'
import { mayReadBy } from './may-read.ts'

const LISTED = 25 // sessions, the newest first; templates lead to all others
const FEED_EVENTS = 100

interface ResourceKind {
  description: string
  mimeType: string
  listed?: boolean
  read(services: Services, session: Session, call: Call): Promise<string>
}

const KINDS: Record<string, ResourceKind> = {
  handoff: {
    description: 'All that is needed to continue the session, on one page',
    mimeType: 'text/markdown',
    listed: true,
    read: (services, session, call) => handoffOf(services, session, call.link!()),
  },
  doc: {
    description: "The session's shared document",
    mimeType: 'text/markdown',
    listed: true,
    read: async ({ database }, { id }) => (await readDocument(database, id)).content,
  },
  conclusion: {
    description: "The session's conclusion; empty until there is one",
    mimeType: 'text/markdown',
    read: async ({ database }, { id }) => conclusionOf((await readDocument(database, id)).content) ?? '',
  },
  feed: {
    description: `The newest ${FEED_EVENTS} events of the feed, one JSON object a line`,
    mimeType: 'application/x-ndjson',
    read: async ({ database }, { id }) =>
      (await eventsBefore(database, id, undefined, false, FEED_EVENTS)).events.map((event) => `${JSON.stringify(event)}\n`).join(''),
  },
}

const URI = new RegExp(`^parley://sessions/([^/]{36})/(${Object.keys(KINDS).join('|')})$`)
const uriOf = (id: string, kind: string) => `parley://sessions/${id}/${kind}`

export const resourceTemplates: ResourceTemplate[] = Object.entries(KINDS).map(([name, { description, mimeType }]) => ({
  name: `session_${name}`,
  uriTemplate: uriOf('{id}', name),
  description,
  mimeType,
}))

/** The newest sessions, for callers who may read what the pages show. Other callers get none: teams know their sessions by id. */
export const listResources = async (services: Services, call: Call): Promise<Resource[]> => {
  if (!call.mayRead?.()) return []
  const sessions = await listSessions(services.database, { limit: LISTED })
  const listed = Object.entries(KINDS).filter(([, { listed }]) => listed)
  return sessions.flatMap(({ id, title, lastEventAt, createdAt }) =>
    listed.map(([name, { description, mimeType }]) => ({
      uri: uriOf(id, name),
      name: `${escapeInvisible(title)} (${name})`,
      description,
      mimeType,
      annotations: { lastModified: lastEventAt ?? createdAt },
    })),
  )
}

export const readResource: Offers['read'] = async (services, call, uri) => {
  const [, given = '', name = ''] = URI.exec(uri) ?? []
  const id = idWithin(given)
  const open = isUuid(id) && (await mayReadBy(services.database, call, id))
  const session = open ? await sessionById(services.database, id) : undefined
  if (!session) return undefined
  const { mimeType, read } = KINDS[name]!
  return { mimeType, text: await read(services, session, call) }
}

const COMPLETED = 20
const SEARCHED = 200 // sessions, the newest first

/** Completes a session's id: up to 20 sessions, among the newest 200 of this kind, whose id begins with the typed text or whose title
 *  contains it. */
export const completeSession =
  (kind?: 'open' | 'closed'): Completion =>
  async (services, call, typed) => {
    if (!call.mayRead?.()) return { values: [] }
    const wanted = typed.trim().toLowerCase()
    const sessions = await listSessions(services.database, { limit: SEARCHED, kind })
    const found = sessions.filter(({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted))
    return { values: found.slice(0, COMPLETED).map(({ id }) => id), total: found.length, hasMore: found.length > COMPLETED }
  }
