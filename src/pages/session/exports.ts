// A session as a file: readable Markdown, or its events as JSON Lines. Written while it is read, so its length costs no memory.
import { pause } from '../../core/pause.ts'
import { oneLine, quote } from '../../core/escape-invisible.ts'
import { clock, day, moment } from '../../../components/parts/time.ts'
import { eventLine } from '../../../components/session/event-words.ts'
import { conclusionOf } from '../../rooms/conclusion.ts'
import { messageOf } from '../../rooms/handoff.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import type { Services } from '../../process/services.ts'
import { readDocument } from '../../stores/documents.ts'
import { eventsAfter, type Event } from '../../stores/events.ts'
import { roster, type Participant } from '../../stores/members.ts'
import type { Session } from '../../stores/sessions.ts'
import { bodyFrom, type Http } from '../../doors/http/http.ts'
import { baseUrl } from '../../doors/http/origin.ts'
import type { Site } from '../respond.tsx'

/** GET /sessions/:id.md */
export const markdownExport = async (c: Http, { services }: Site): Promise<Response> => {
  const session = await existingSession(services.database, c.req.param('id')!.slice(0, -'.md'.length))
  return streamed(c, markdown(services, session, baseUrl(c, services)), 'text/markdown', `${fileNameOf(session.title)}.md`)
}

/** GET /sessions/:id/feed.jsonl: the events as the API shows them, one a line; ?include_trace=true for all of the log. */
export const feedExport = async (c: Http, { services }: Site): Promise<Response> => {
  const session = await existingSession(services.database, c.req.param('id')!)
  const trace = c.req.query('include_trace') === 'true'
  return streamed(c, lines(services, session, trace), 'application/x-ndjson', `${fileNameOf(session.title)}.jsonl`)
}

/** A title as a file's name, in letters that every system takes. */
export const fileNameOf = (title: string): string =>
  title
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 60) || 'session'

async function* lines(services: Services, session: Session, trace: boolean) {
  for await (const events of pages(services, session, trace)) yield events.map((event) => `${JSON.stringify(event)}\n`).join('')
}

// The log as it was when it was asked for: what comes meanwhile would let a lively session never end.
async function* pages({ database }: Services, { id, lastSequence }: Session, trace: boolean) {
  for (let cursor = 0; cursor < lastSequence;) {
    await pause() // the embedded database reads within this thread: without a pause, all pages would be one piece of work
    const { events, hasMore } = await eventsAfter(database, id, cursor, trace)
    yield events.filter(({ sequence }) => sequence <= lastSequence)
    if (!hasMore) return
    cursor = events.at(-1)!.sequence
  }
}

async function* markdown(services: Services, session: Session, base: string) {
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
        return heading + entry(event, names)
      })
      .join('')
  }
}

// As in the feed, a name is what is bold: no team calls itself the convener.
const rosterLine = ({ teamId, teamName, joinedAt, leftAt }: Participant, { convenerTeamId }: Session) =>
  `- **${oneLine(teamName)}**${teamId === convenerTeamId ? ' (convener)' : ''}: joined ${moment(joinedAt)}${leftAt ? `, left ${moment(leftAt)}` : ''}\n`

// The document has headings of its own. In a fence, longer than any in it, they stay its own, and it can be taken out as it is.
const fenced = (text: string) => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}markdown\n${text.trimEnd()}\n${fence}\n`
}

const entry = (event: Event, names: Map<string, string>): string => {
  if (event.type === 'system') return `\n*#${event.sequence} · ${clock(event.at)} · ${oneLine(`${eventLine(event)}${details(event)}`)}*\n`
  const { by, to, text } = messageOf(event, names)
  return `\n${by}${to ? ` to ${to}` : ''} · #${event.sequence} · ${clock(event.at)}\n\n${quote(text)}\n`
}

const details = ({ changes, reason }: Event): string => {
  const changed = Object.entries((changes ?? {}) as Record<string, { from: string; to: string }>)
  const said = changed.map(([field, { from, to }]) => `${field} from “${from}” to “${to}”`)
  return `${said.length > 0 ? `: ${said.join(', ')}` : ''}${typeof reason === 'string' ? ` (${reason})` : ''}`
}

const streamed = (c: Http, parts: AsyncGenerator<string>, type: string, fileName: string): Response => {
  c.env?.patient?.() // a slow reader may take its time
  return new Response(bodyFrom(parts), {
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'content-disposition': `inline; filename="${fileName}"`,
      'cache-control': 'no-store',
    },
  })
}
