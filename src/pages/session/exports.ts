// A session as a file: readable Markdown, or its events as JSON Lines. The file is sent while the log is read, so that a long session takes
// no more memory than a short one.
import { pause } from '../../core/runtime/pause.ts'
import { oneLine, quote } from '../../core/text/escape-invisible.ts'
import { slugOf } from '../../core/text/slug.ts'
import { clock, day, moment } from '../../../components/parts/time.ts'
import { changesOf, eventLine, reasonOf, type EventKinds } from '../../core/events/event-kinds.ts'
import { conclusionOf } from '../../rooms/document/conclusion.ts'
import { decisionsInForce, messageOf } from '../../rooms/handoff.ts'
import { boardNow, openWorkLines } from '../../rooms/work/open-work.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { readDocument } from '../../stores/documents.ts'
import { eventsAfter, type Event } from '../../stores/events.ts'
import { decisionsOf } from '../../stores/records/decisions.ts'
import { roster, type Participant } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import { bodyFrom, type Http } from '../../doors/http/http.ts'
import { baseUrl } from '../../doors/http/origin.ts'
import type { Site } from '../respond.tsx'
import { asText } from '../../core/text/as-text.ts'

/** GET /sessions/:id.md */
export const markdownExport = async (c: Http, { services, eventKinds }: Site): Promise<Response> => {
  const session = await existingSession(services.database, c.req.param('id')!.slice(0, -'.md'.length))
  return fileResponse(c, markdown(services, session, eventKinds, baseUrl(c, services)), 'text/markdown', `${fileNameOf(session.title)}.md`)
}

/** GET /sessions/:id/feed.jsonl: the events as the API shows them, one a line; with ?include_trace=true the whole log. */
export const feedExport = async (c: Http, { services }: Site): Promise<Response> => {
  const session = await existingSession(services.database, c.req.param('id')!)
  const trace = c.req.query('include_trace') === 'true'
  return fileResponse(c, lines(services, session, trace), 'application/x-ndjson', `${fileNameOf(session.title)}.jsonl`)
}

/** A title as a file name, in characters that every file system takes. */
export const fileNameOf = (title: string): string => slugOf(title, /[^a-z0-9]+/g) || 'session'

// An import knows a session by the first event of its log: a feed that begins with another one names it in its first line.
async function* lines(services: Services, session: Session, trace: boolean) {
  let first = trace ? undefined : (await eventsAfter(services.database, session.id, 0, true, 1)).events[0]?.id
  for await (const events of pages(services, session, trace)) {
    const named = events.map((event, i) => (i > 0 || (first ?? event.id) === event.id ? event : { ...event, first_event_id: first }))
    yield named.map((event) => `${JSON.stringify(event)}\n`).join('')
    first = undefined
  }
}

// The log as it was at the request: with the events that come meanwhile, the file of a busy session would never end.
async function* pages({ database }: Services, { id, lastSequence }: Session, trace: boolean) {
  for (let cursor = 0; cursor < lastSequence;) {
    await pause() // the embedded database reads on this thread: without a pause, other requests would wait for all pages
    const { events, hasMore } = await eventsAfter(database, id, cursor, trace)
    yield events.filter(({ sequence }) => sequence <= lastSequence)
    if (!hasMore) return
    cursor = events.at(-1)!.sequence
  }
}

async function* markdown(services: Services, session: Session, kinds: EventKinds, base: string) {
  const [teams, document] = await Promise.all([roster(services.database, session.id), readDocument(services.database, session.id)])
  const names = new Map(teams.map(({ teamId, teamName }) => [teamId, oneLine(teamName)]))
  const conclusion = session.status === 'closed' ? conclusionOf(document.content) : undefined
  const description = session.description.trim()
  yield* [
    `# ${oneLine(session.title)}\n\n${description ? `${quote(description)}\n\n` : ''}`,
    `- Session: ${base}/sessions/${session.id}\n- Started: ${moment(session.createdAt)}\n- ${session.closedAt ? `Concluded: ${moment(session.closedAt)}` : 'Still open'}\n`,
    `\n## Teams\n\n${teams.map((team) => rosterLine(team, session)).join('') || 'No team has joined.\n'}`,
    conclusion ? `\n## Conclusion\n\n${quote(conclusion.trim())}\n` : '',
    `\n## Document (version ${document.version})\n\n${document.content.trim() ? fenced(document.content) : 'It is empty.\n'}`,
    '\n## Feed\n',
  ]
  let today = ''
  for await (const events of pages(services, session, false)) {
    yield events
      .map((event) => {
        const date = day(event.at)
        const heading = date === today ? '' : `\n### ${date}\n`
        today = date
        return heading + feedEntry(event, names, kinds)
      })
      .join('')
  }
  const decisions = decisionsInForce((await decisionsOf(services.database, session.id)).toReversed(), base)
  if (decisions !== '') yield `\n## Decisions in force\n\n${decisions}\n`
  const work = openWorkLines(await boardNow(services, services.database, session.id), 'the board has them')
  if (work.length > 0) yield `\n## Open work\n\n${work.join('\n')}\n`
}

// Only a name is bold, as in the feed, so that no team's name can pass for the word after it.
const rosterLine = ({ teamId, teamName, joinedAt, leftAt }: Participant, { convenerTeamId }: Session) =>
  `- **${oneLine(teamName)}**${teamId === convenerTeamId ? ' (convener)' : ''}: joined ${moment(joinedAt)}${leftAt ? `, left ${moment(leftAt)}` : ''}\n`

// The document stands in a code fence longer than any in it: its headings stay its own, and it can be copied out unchanged.
const fenced = (text: string) => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}markdown\n${text.trimEnd()}\n${fence}\n`
}

const feedEntry = (event: Event, names: Map<string, string>, kinds: EventKinds): string => {
  if (event.type === 'system')
    return `\n*#${event.sequence} · ${clock(event.at)} · ${oneLine(`${eventLine(kinds, event)}${details(event, kinds)}`)}*\n`
  const { by, to, text } = messageOf(event, names)
  return `\n${by}${to ? ` to ${to}` : ''} · #${event.sequence} · ${clock(event.at)}\n\n${quote(text)}\n`
}

const details = (event: Event, kinds: EventKinds): string => {
  const reason = reasonOf(kinds, event)
  const changes = changesOf(event).map(([field, { from, to }]) => `${field} from “${asText(from)}” to “${asText(to)}”`)
  return `${changes.length > 0 ? `: ${changes.join(', ')}` : ''}${reason && ` (${reason})`}`
}

const fileResponse = (c: Http, parts: AsyncGenerator<string>, type: string, fileName: string): Response => {
  c.env?.patient?.() // a slow reader is not cut off
  return new Response(bodyFrom(parts), {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-disposition': `inline; filename="${fileName}"`,
      'cache-control': 'no-store',
    },
  })
}
