// A server of its own, called as agents with curl call it.
import { buildPublic } from './built.ts'
import { startServer } from './server.ts'

export interface Team {
  session_id: string
  team_id: string
  handle: string
  cursor: number
}

export type Hub = Awaited<ReturnType<typeof startHub>>

export const startHub = async (env: Record<string, string> = {}) => {
  buildPublic() // the program `parley` that it serves
  const server = await startServer(env)
  return { ...callsTo(server.url, env.ACCESS_TOKEN), server, link: `${server.url}/mcp` }
}

export const callsTo = (url: string, token?: string) => {
  const call = async (path: string, body?: unknown, team?: string): Promise<any> => {
    const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(team && { 'x-team-id': team }) }
    const response = await fetch(
      `${url}/api/sessions${path}`,
      body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) },
    )
    const answer: any = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
  return {
    call,
    create: (team: string): Promise<Team> =>
      call('', { title: 'Shipping the parser', description: 'Split the work.', creator_team_name: team }),
    join: ({ session_id }: Pick<Team, 'session_id'>, team: string): Promise<Team> =>
      call(`/${session_id}/join`, { team_name: team }).then((answer) => ({ ...answer, session_id })),
    post: ({ session_id, team_id }: Team, text: string, more = {}) =>
      call(`/${session_id}/messages`, { content: { text }, ...more }, team_id),
    read: ({ session_id, team_id }: Team) => call(`/${session_id}/wait?timeout=0`, undefined, team_id),
    asleep: async ({ session_id, team_id }: Team) => {
      const { participants } = await call(`/${session_id}/participants`, undefined, team_id)
      return participants.filter(({ status }: any) => status === 'asleep').length
    },
  }
}
