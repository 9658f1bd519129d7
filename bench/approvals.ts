// From a person's approval over REST to the answer of the proposer's held wait, which asks for what is addressed to it alone; through the same
// instance, and through another one on the same database. `bun bench/approvals.ts`
import { signInAs } from '../src/process/sign-ins.ts'
import { bench, newRoom, row, serveHere, spread } from './support.ts'

const ROUNDS = 200

await bench(async ({ url, databaseUrl, services }) => {
  const { handle, secret } = await signInAs(services, { name: 'Robin', role: 'person' })
  const cookie = `parley_person=${handle}.${secret}`
  const other = await serveHere(databaseUrl)
  const { session_id, team_id } = await newRoom(url)
  const call = async (base: string, path: string, headers: Record<string, string>, body?: object): Promise<any> => {
    const response = await fetch(`${base}/api/${path}`, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
    const answer = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(answer))
    return answer
  }
  const team = { 'x-team-id': team_id }
  let cursor = 0
  for (const [place, at] of [
    ['through the same instance', url],
    ['through another instance', other.url],
  ] as const) {
    const took: number[] = []
    const answered: number[] = []
    for (let round = -20; round < ROUNDS; round++) {
      const { id } = await call(url, 'records/propose_action_item', team, { title: `Item ${place} ${round}` })
      const waiting = call(at, `sessions/${session_id}/wait?since_cursor=${cursor}&only=addressed&timeout=30`, team)
      await Bun.sleep(5) // until the wait is held
      const begun = performance.now()
      const approving = call(url, `approvals/${id}`, { cookie }, { action: 'approve' }).then(() => performance.now())
      const { next_cursor } = await waiting
      cursor = next_cursor
      const heard = performance.now()
      if (round >= 0) {
        took.push(heard - begun)
        answered.push((await approving) - begun)
      } else await approving
    }
    row(`approval sent → wait answered, ${place}`, `${spread(took)} ms`)
    row('approval sent → approval answered', `${spread(answered)} ms`)
  }
  await other.close()
})
