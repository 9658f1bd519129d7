// A session's feed as the adapter needs it: each function is one public call of Parley over REST, with the answer as it came.
import { restRequest, type As, type Served } from '../../support/parley.ts'

export interface Answer {
  status: number
  body: any
  headers: Headers
  /** Whether Parley says that it has answered this idempotency key before. */
  replayed: boolean
}

/** One session, with the one team that writes to it and reads it. */
export interface Feed {
  post(text: string, key?: string): Promise<Answer>
  /** Ends the session, once however often it is called. */
  conclude(): Promise<Answer>
  /** The page after a cursor; held for so many seconds while there is none. */
  page(since_cursor: number, timeout: number, signal: AbortSignal): Promise<Answer>
  session(): Promise<Answer>
  /** Parley's event stream after a cursor. */
  stream(after: number, signal: AbortSignal): Promise<Response>
}

/** Opens a session of that title. */
export const openFeed = async (parley: Served, title: string): Promise<Feed> => {
  const call = async (name: string, input: object, as?: As) => {
    const { path, sending } = restRequest(name, { ...input }, as)
    return answerOf(await parley.send(path, sending))
  }
  const { session_id, team_id: team } = (await call('create_session', { title, description: '', creator_team_name: 'The writer' })).body
  return {
    post: (text, key) => call('post_message', { session_id, content: { text } }, { team, key }),
    conclude: () => call('conclude_session', { session_id, summary_section: 'The stream is closed.' }, { team, key: 'closed' }),
    page: (since_cursor, timeout, signal) => call('wait_for_messages', { session_id, since_cursor, timeout }, { team, signal }),
    session: () => call('get_session', { session_id }, { team }),
    stream: async (after, signal) => parley.send(`/api/sessions/${session_id}/stream?after=${after}`, { signal }),
  }
}

/** What Parley says of a session that is not there. */
export const noSuchSession = async (parley: Served): Promise<Answer> => answerOf(await parley.send('/api/sessions/none/stream'))

const answerOf = async (response: Response): Promise<Answer> => {
  const { status, headers } = response
  return { status, headers, body: await response.json(), replayed: headers.get('idempotency-replayed') === 'true' }
}
