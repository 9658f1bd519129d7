// What a task did, for the fold below its prompt: the newest of its events, as the trace page shows them.
import { renderToStaticMarkup } from 'react-dom/server'
import { TraceRows } from '../../../components/trace/trace-event.tsx'
import { refuse } from '../../core/errors.ts'
import type { Http } from '../../doors/http/http.ts'
import { existingSession } from '../../rooms/preconditions.ts'
import { roster } from '../../stores/members.ts'
import { taskAt } from '../../stores/control/tasks.ts'
import { taskEvents } from '../../stores/trace.ts'
import { partial } from '../live/partial.ts'
import { htmlResponse, type Site } from '../respond.tsx'
import { teamLookup } from '../session/team-lookup.ts'
import { prepareTexts, traceItems } from '../trace/events.ts'

const SHOWN = 60 // events; the page of the turn has all

/** GET /sessions/:id/tasks/:task */
export const taskTrace = async (c: Http, { services, eventKinds: kinds }: Site, id: string): Promise<Response> => {
  const { database } = services
  const session = await existingSession(database, id)
  const sequence = Number(c.req.param('task'))
  const task = (await taskAt(database, session.id, sequence)) ?? refuse('not_found', `No prompt was given at ${sequence}.`)
  const stretch = { sessionId: session.id, taskId: task.id, after: sequence, upTo: task.endSequence, answer: task.answer, limit: SHOWN + 1 }
  const [rows, teams] = await Promise.all([taskEvents(database, stretch), roster(database, session.id)])
  const items = traceItems(rows.slice(-SHOWN), { teams: teamLookup(teams), kinds, room: false, terminal: undefined, sought: undefined })
  await prepareTexts(items)
  const list = (
    <ol id={`trace-${sequence}`} tabIndex={0} aria-label="What it did" className="feed-scroll thin-scroll max-h-96 py-1">
      <li>
        {rows.length > SHOWN && <p className="px-4 py-1.5 text-center text-[12px] text-muted-foreground">The newest {SHOWN} events</p>}
        {items.length === 0 && <p className="px-4 py-2 text-[12.5px] text-muted-foreground">Nothing yet.</p>}
        <ol>
          <TraceRows session={session.id} items={items} />
        </ol>
      </li>
    </ol>
  )
  return htmlResponse(c, partial(`#trace-${sequence}`, 'outerMorph', renderToStaticMarkup(list)))
}
