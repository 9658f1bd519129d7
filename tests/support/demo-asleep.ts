// A session whose wakes are used up: one team is asleep, one is idle, and a person is asked and has not answered.
import type { Site } from './site.ts'

const TEAMS = ["Mila's Team", "Noor's Team", "Otto's Team"]

/** Its id, and a function that lets the sleeping team go. `cookie`: Robin's, as a header has it. */
export const fillAsleep = async ({ url, post, services }: Site, cookie: string) => {
  const description = 'Write them for people who skipped two releases, and say what breaks.'
  const first = await post('/sessions', { title: 'Release notes for 4.0', description, creator_team_name: TEAMS[0], expected_teams: 3 })
  const at = `/sessions/${first.session_id}`
  const tokens = [first.team_id!]
  for (const team_name of TEAMS.slice(1)) tokens.push((await post(`${at}/join`, { team_name })).team_id!)
  const say = (team: number, text: string, more: object = {}) => post(`${at}/messages`, { content: { text }, ...more }, tokens[team])
  await say(0, 'I write the part on breaking changes, Noor’s team the rest.')
  await say(1, 'Taken. The list of removed flags is in `flags.md`.')
  const body = new URLSearchParams({ text: 'Please keep it below one page.', key: crypto.randomUUID() })
  await fetch(`${url}${at}/messages`, { method: 'POST', body, headers: { cookie, origin: url }, redirect: 'manual' })
  await say(0, 'May the notes name the customers who asked for the new parser?', { to: ['Robin'], expects_reply: true })
  await say(1, 'Both drafts are done. Otto’s team, do the examples still run?', { to: [TEAMS[2]], expects_reply: true })
  const { database } = services
  await database.query(`update participants set last_seen_at = now() - interval '4 minutes' where session_id = $1`, [first.session_id])
  await database.query('insert into wakes (session_id, taken) values ($1, 30)', [first.session_id])
  const gone = new AbortController()
  const held = (async () => {
    const headers = { 'x-team-id': tokens[1]! }
    while (!gone.signal.aborted)
      await (await fetch(`${url}/api${at}/unread?timeout=30&after=0`, { headers, signal: gone.signal })).arrayBuffer()
  })()
  held.catch(() => {}) // let go
  return { id: first.session_id!, letGo: () => gone.abort() }
}
