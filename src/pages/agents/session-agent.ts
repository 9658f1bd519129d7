import type { SessionAgent } from '../../../components/session/session-view.ts'
import { mayRead } from '../../doors/http/guards.ts'
import type { Http } from '../../doors/http/http.ts'
import type { Session } from '../../stores/sessions.ts'
import type { Site } from '../respond.tsx'
import { familyMark, shownOf } from './live.tsx'
import { promptBoxOf } from './prompt-box.ts'
import { readAgent } from './rows.ts'
import { runnerCommand } from './runner-command.ts'

/** What a session's page shows of its agent, if it has one; the tree of sessions to those who may read all of them. */
export const sessionAgentOf = async (c: Http, site: Site, session: Session): Promise<SessionAgent | undefined> => {
  if (session.agenticTool === null) return undefined
  const rows = await readAgent(site.services.database, session)
  const shown = shownOf(site.services, rows)
  return (
    shown && {
      view: shown.agent,
      family: mayRead(c, site.services) ? shown.family : undefined,
      familyMark: familyMark(shown.family),
      prompt: promptBoxOf(rows.agent!, crypto.randomUUID()),
      runnerCommand: runnerCommand(c, site),
    }
  )
}
