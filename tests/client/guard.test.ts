// `connect claude --guard`: an edit of what another team holds on the board is refused; whatever else happens, edits pass.
import { expect, test } from 'bun:test'
import { existsSync, mkdirSync } from 'node:fs'
import { withHub } from '../support/hub-and-clients.ts'
import type { Ran } from '../support/client.ts'
import { whileBusy } from '../support/cpu.ts'
import { FULL, shortOf } from '../support/full.ts'
import { thatCanStall } from '../support/stalling-proxy.ts'
import { meeting } from '../support/watching.ts'

const LONG_MS = 120_000
const PASSES = { code: 0, out: '', err: '' }
const SETTINGS = '.claude/settings.json'

const { hub, home, client } = withHub()

const denied = async (edits: () => Promise<Ran>) => {
  let ran = await edits()
  for (let tries = 0; ran.out === '' && tries < 10; tries++) ran = await edits() // an edit passes where the hub takes longer than a second
  const { code, out, err } = ran
  expect([code, err]).toEqual([0, ''])
  const { hookEventName, permissionDecision, permissionDecisionReason } = JSON.parse(out).hookSpecificOutput
  expect([hookEventName, permissionDecision]).toEqual(['PreToolUse', 'deny'])
  return permissionDecisionReason as string
}

const planned = async ({ session_id, team_id }: { session_id: string; team_id: string }, title: string, paths: string[]) =>
  (await hub.call(`/${session_id}/work`, { items: [{ title, paths }], claim: true }, team_id)).items[0]

const repository = () => {
  mkdirSync(home.path('project/.git'), { recursive: true })
  mkdirSync(home.path('project/packages/app'), { recursive: true })
  return home.path('project')
}

test(
  'an edit of what another team holds is refused, with its name and item; what is free or one’s own passes',
  async () => {
    const { alex, bea } = await meeting(hub)
    const agent = client({ cwd: repository() })
    await agent.joined(alex)
    expect(await agent.edits('src/lexer/lexer.ts')).toEqual(PASSES)
    const item = await planned(bea, 'Write the\u202e "lexer"', ['src/lexer', 'packages/**/*.md'])
    await planned(alex, 'Write the parser', ['src/parser'])
    const reason = await denied(() => agent.edits(home.path('project/src/lexer/lexer.ts')))
    expect(reason).toContain('src/lexer/lexer.ts belongs to work that another team')
    expect(reason).toContain(`"Bea's Team", item ${item.item_id} ("Write the⟨U+202E⟩ \\"lexer\\"")`)
    await denied(() => agent.edits('src/lexer'))
    await denied(() => agent.edits('./packages/app/README.md'))
    await denied(() => agent.edits('packages/app/notes.md', 'notebook_path'))
    const others = ['src/parser/parser.ts', 'src/lexers.ts', '../src/lexer/lexer.ts', '/etc/src/lexer/x', home.path('src/lexer/x')]
    for (const free of shortOf(others, 2)) expect(await agent.edits(free), free).toEqual(PASSES)
    await hub.call(`/${bea.session_id}/work/${item.item_id}`, { status: 'done' }, bea.team_id)
    expect(await agent.edits('src/lexer/lexer.ts')).toEqual(PASSES)
  },
  LONG_MS,
)

test(
  'an agent that has joined a session twice edits what either of its teams holds',
  async () => {
    const { alex, bea } = await meeting(hub)
    const agent = client({ cwd: repository() })
    await agent.joined(alex)
    await planned(bea, 'Write the lexer', ['src/lexer'])
    await denied(() => agent.edits('src/lexer/lexer.ts'))
    await agent.joined(bea)
    expect(await agent.edits('src/lexer/lexer.ts')).toEqual(PASSES)
    await planned(await hub.join(alex, "Cem's Team"), 'Write the parser', ['src/parser'])
    await denied(() => agent.edits('src/parser/parser.ts'))
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'paths count from the root of the repository, wherever in it the agent works',
  async () => {
    const { alex, bea } = await meeting(hub)
    repository()
    const agent = client({ cwd: home.path('project/packages/app') })
    await agent.joined(alex)
    await planned(bea, 'The app itself', ['packages/app/src'])
    await denied(() => agent.edits('src/main.ts'))
    expect(await agent.edits('main.ts')).toEqual(PASSES)
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'what was taken knowingly although it overlaps may be edited, and nothing is held any longer once the session is concluded',
  async () => {
    const { alex, bea } = await meeting(hub)
    const agent = client({ cwd: repository() })
    await agent.joined(alex)
    await planned(bea, 'Everything in src', ['src'])
    await denied(() => agent.edits('src/a.ts'))
    const call = (path: string, body: object) => hub.call(`/${alex.session_id}${path}`, body, alex.team_id)
    const { items } = await call('/work', { items: [{ title: 'One file of it', paths: ['src/a.ts'] }] })
    await call('/work/claim', { item_id: items[0].item_id, allow_overlap: true })
    expect(await agent.edits('src/a.ts')).toEqual(PASSES)
    await denied(() => agent.edits('src/b.ts'))
    await call('/conclude', { summary_section: 'Enough.' })
    expect(await agent.edits('src/b.ts')).toEqual(PASSES)
  },
  LONG_MS,
)

test(
  'everything passes while the hub is down or slow, and without a session',
  async () => {
    const { alex, bea } = await meeting(hub)
    const network = await thatCanStall(hub.url)
    try {
      const agent = client({ cwd: repository(), link: new URL('mcp', network.url).href })
      expect(await agent.edits('src/a.ts')).toEqual(PASSES)
      await agent.joined(alex)
      await planned(bea, 'Everything in src', ['src'])
      await denied(() => agent.edits('src/a.ts'))
      network.stall('there')
      const began = performance.now()
      expect(await agent.edits('src/a.ts')).toEqual(PASSES)
      expect(performance.now() - began).toBeLessThan(whileBusy(4_000)) // a second for the hub, the rest for a busy machine
      network.flow()
      await denied(() => agent.edits('src/a.ts'))
      expect(await agent.edits('')).toEqual(PASSES)
    } finally {
      await network.close()
    }
  },
  LONG_MS,
)

test.skipIf(!FULL)(
  'connect --guard adds the hook, keeps it when connected again, and disconnect takes out exactly that',
  async () => {
    const before = '{\n  "hooks": { "PreToolUse": [ { "matcher": "Bash", "hooks": [] } ] }\n}\n'
    home.write(SETTINGS, before)
    expect(await home.run(['connect', 'claude', '--yes'])).toMatchObject({ code: 0 })
    expect(home.read(SETTINGS)).not.toContain('--guard')
    expect(await home.run(['connect', 'claude', '--guard', '--yes'])).toMatchObject({ code: 0 })
    const { PreToolUse } = JSON.parse(home.read(SETTINGS)!).hooks
    expect(PreToolUse).toHaveLength(2)
    const own = PreToolUse.find(({ matcher }: any) => matcher !== 'Bash')
    expect(own).toMatchObject({ matcher: 'Edit|Write|MultiEdit|NotebookEdit', hooks: [{ type: 'command' }] })
    expect(own.hooks[0].command).toMatch(/ watch --guard --hub http/)
    expect((await home.run(['connect', 'claude', '--yes'])).out).toContain('nothing to change')
    expect(await home.run(['connect', 'claude', '--wake', 'addressed', '--yes'])).toMatchObject({ code: 0 })
    expect(home.read(SETTINGS)).toContain('--guard')
    expect(await home.run(['disconnect', 'claude', '--yes'])).toMatchObject({ code: 0 })
    expect(home.read(SETTINGS)).toBe(before)
    expect(existsSync(home.path('.parley'))).toBe(false)
    const { code, err } = await home.run(['connect', 'codex', '--guard', '--yes'])
    expect([code, err]).toEqual([1, expect.stringContaining('--guard is for Claude Code')])
  },
  LONG_MS,
)
