// Sessions as MCP resources, for clients that let a person attach one: parley://sessions/<id>/doc, feed, conclusion, handoff.
import { type Resource, type ResourceTemplate } from '@modelcontextprotocol/sdk/types.js'
import type { Call } from '../../operations/context.ts'
import { idWithin, isUuid } from '../../core/ids.ts'
import type { ServerLink } from '../../core/server-link.ts'
import { redacted } from '../../core/text.ts'
import { visible } from '../../core/escape-invisible.ts'
import { conclusionOf } from '../../rooms/conclusion.ts'
import { handoffOf } from '../../rooms/handoff.ts'
import type { Services } from '../../process/services.ts'
import { readDocument } from '../../stores/documents.ts'
import { eventsBefore } from '../../stores/events.ts'
import { listSessions, sessionById, type Session } from '../../stores/sessions.ts'
import { isOfTeam } from '../http/guards.ts'
import { ProtocolError } from './errors.ts'

export type McpCall = Call & { link(): ServerLink }

const LISTED = 25 // sessions, the newest first; templates lead to all others
const FEED_EVENTS = 100
const RESOURCE_NOT_FOUND = -32002 // as the specification has it; the SDK has no name for it

interface Part {
  about: string
  mimeType: string
  listed?: boolean
  read(services: Services, session: Session, call: McpCall): Promise<string>
}

const PARTS: Record<string, Part> = {
  handoff: {
    about: 'All that is needed to continue the session, on one page',
    mimeType: 'text/markdown',
    listed: true,
    read: (services, session, call) => handoffOf(services, session, call.link()),
  },
  doc: {
    about: "The session's shared document",
    mimeType: 'text/markdown',
    listed: true,
    read: async ({ database }, { id }) => (await readDocument(database, id)).content,
  },
  conclusion: {
    about: "The session's conclusion; empty until there is one",
    mimeType: 'text/markdown',
    read: async ({ database }, { id }) => conclusionOf((await readDocument(database, id)).content) ?? '',
  },
  feed: {
    about: `The newest ${FEED_EVENTS} events of the feed, one JSON object a line`,
    mimeType: 'application/x-ndjson',
    read: async ({ database }, { id }) =>
      (await eventsBefore(database, id, undefined, false, FEED_EVENTS)).events.map((event) => `${JSON.stringify(event)}\n`).join(''),
  },
}

const ADDRESS = new RegExp(`^parley://sessions/([^/]{36})/(${Object.keys(PARTS).join('|')})$`)
const addressOf = (id: string, part: string) => `parley://sessions/${id}/${part}`

export const resourceTemplates: ResourceTemplate[] = Object.entries(PARTS).map(([name, { about, mimeType }]) => ({
  name: `session_${name}`,
  uriTemplate: addressOf('{id}', name),
  description: about,
  mimeType,
}))

/** What this caller may read without a team: the newest sessions, or nothing. */
export const listResources = async (services: Services, call: McpCall): Promise<Resource[]> => {
  if (!call.reader?.()) return []
  const sessions = await listSessions(services.database, { limit: LISTED })
  const listed = Object.entries(PARTS).filter(([, { listed }]) => listed)
  return sessions.flatMap(({ id, title, lastEventAt, createdAt }) =>
    listed.map(([name, { about, mimeType }]) => ({
      uri: addressOf(id, name),
      name: `${visible(title)} (${name})`,
      description: about,
      mimeType,
      annotations: { lastModified: lastEventAt ?? createdAt },
    })),
  )
}

/** One and the same error for what is not there and for what this caller may not read. */
export const readResource = async (services: Services, call: McpCall, uri: string) => {
  const [, given = '', name = ''] = ADDRESS.exec(uri) ?? []
  const id = idWithin(given)
  const open = isUuid(id) && (call.reader?.() || (await isOfTeam(services, id, call.token)))
  const session = open ? await sessionById(services.database, id) : undefined
  if (!session)
    throw new ProtocolError(
      RESOURCE_NOT_FOUND,
      'There is no such resource, or you may not read it: send the X-Team-ID header of a team of that session.',
      { uri: redacted(uri) },
    )
  const { mimeType, read } = PARTS[name]!
  return { contents: [{ uri, mimeType, text: await read(services, session, call) }] }
}

const COMPLETED = 20
const LOOKED_AT = 200 // sessions, the newest first

/** Ids of sessions whose id begins with what was typed, or whose title holds it. */
export const completedSessions = async (services: Services, call: McpCall, typed: string, status?: Session['status']) => {
  if (!call.reader?.()) return { values: [] }
  const wanted = typed.trim().toLowerCase()
  const sessions = await listSessions(services.database, { limit: LOOKED_AT, ...(status && { status }) })
  const found = sessions.filter(({ id, title }) => id.startsWith(wanted) || title.toLowerCase().includes(wanted))
  return { values: found.slice(0, COMPLETED).map(({ id }) => id), total: found.length, hasMore: found.length > COMPLETED }
}
