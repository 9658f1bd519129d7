import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { within } from '../support/fake-client.ts'
import { withHub } from '../support/hub-and-clients.ts'
import { FULL, shortOf } from '../support/full.ts'
import { armed, idleAt, meeting } from '../support/watching.ts'

const LONG_MS = 120_000
const SHORT_MS = 1_500

const { hub, home, client } = withHub()

const PLACES = [
  ['one folder', ['', '']],
  ['two folders', ['one', 'two']],
] as const

for (const [where, folders] of shortOf(PLACES, 1))
  test(
    `two agents of one home in ${where} are each woken for their own team alone`,
    async () => {
      for (const folder of folders) home.write(join(folder, 'file'), '')
      const [here, there] = await Promise.all([meeting(hub), meeting(hub)])
      const [one, two] = folders.map((folder) => client({ cwd: home.path(folder) }))
      const [first, second] = [idleAt(one!, here.alex), idleAt(two!, there.alex)]
      await armed(home, 2)
      await hub.post(there.bea, 'for the second')
      const woken = await second
      expect([woken.code, woken.err.includes(there.alex.session_id)]).toEqual([2, true])
      expect(await within(SHORT_MS, first)).toBeUndefined()
      await hub.post(here.bea, 'for the first')
      expect((await first).err).toContain(here.alex.session_id)
    },
    LONG_MS,
  )

test(
  'two agents in one session, each with a team: a message of the one wakes the other',
  async () => {
    const { alex, bea } = await meeting(hub)
    await hub.read(bea)
    const [first, second] = [idleAt(client(), alex), idleAt(client(), bea)]
    await armed(home, 2)
    await hub.post(bea, 'to Alex')
    expect((await first).code).toBe(2)
    expect(await within(SHORT_MS, second)).toBeUndefined()
  },
  LONG_MS,
)

test(
  'an agent with curl alone hands over the answer in its shell, and is woken as its own',
  async () => {
    const { alex, bea } = await meeting(hub)
    const [other, agent] = [client(), client()]
    expect(await agent.joinedByShell(alex)).toMatchObject({ code: 0, err: '' })
    expect(await other.ended()).toEqual({ code: 0, out: '', err: '' })
    const ended = agent.ended()
    await armed(home)
    await hub.post(bea, 'one')
    expect((await ended).code).toBe(2)
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'an agent that is resumed in another process of its client is woken again; another conversation there is not',
  async () => {
    const { alex, bea } = await meeting(hub)
    const before = client()
    await before.joined(alex)
    before.kill()
    expect((await client().ended()).code).toBe(0)
    const ended = client({ conversation: before.conversation }).ended()
    await armed(home)
    await hub.post(bea, 'welcome back')
    expect((await ended).code).toBe(2)
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'a session that the agent joins while the hook waits is watched too',
  async () => {
    const [one, two] = await Promise.all([meeting(hub), meeting(hub)])
    const agent = client()
    const ended = idleAt(agent, one.alex)
    await armed(home)
    await agent.joined(two.alex)
    await armed(home, 2)
    await hub.post(two.bea, 'one')
    expect((await ended).err).toContain(two.alex.session_id)
  },
  LONG_MS,
)
