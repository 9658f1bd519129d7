// Pictures of every page: light, dark and on a phone, of an instance on a database of its own that real operations filled.
//   bun run shots [folder]      into shots/ unless said
//   bun run shots --readme      the two pictures that the README shows
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, BrowserContext } from 'playwright'
import { fillAgents, type AgentsDemo } from './support/demo-agents.ts'
import { fillDemo, type Demo } from './support/demo.ts'
import { fillAsleep } from './support/demo-asleep.ts'
import { fillProposals } from './support/demo-proposals.ts'
import { fillRecords, type RecordsDemo } from './support/demo-records.ts'
import { demoTranscript } from './support/demo-transcript.ts'
import { KEY, MOBILE, serveSite, startBrowser, usingPage, type Site } from './support/site.ts'

const README_LIMIT = 250 * 1024
const WIDE = { viewport: { width: 1280, height: 800 } }
const LOOKS = {
  light: WIDE,
  dark: { ...WIDE, colorScheme: 'dark' },
  mobile: { ...MOBILE, deviceScaleFactor: 2 },
} as const

const ROOT = join(import.meta.dir, '..')
const [argument = 'shots'] = process.argv.slice(2)

const main = async () => {
  const browser = await startBrowser()
  const [parley, nothing] = [await serveSite(), await serveSite()]
  const demo = await fillDemo(parley.post)
  await age(parley)
  const trace = await imported(parley)
  const robin = await signedIn(browser, parley)
  const sleeping = await fillAsleep(parley, robin!.map(({ name, value }) => `${name}=${value}`).join('; '))
  const agents = await fillAgents(parley)
  const proposals = await proposed(parley, robin!)
  const records = await fillRecords(parley, robin!.map(({ name, value }) => `${name}=${value}`).join('; '))
  const leave = follow(parley, demo)
  try {
    const shoot = (site: Site, path: string, file: string, look: Parameters<Browser['newContext']>[0], cookies = robin) =>
      usingPage(browser, site.url, look, async (page, _, context) => {
        await context.addCookies(cookies)
        await page.goto(path)
        await page.evaluate('document.fonts.ready')
        await page.waitForTimeout(400) // the stream's first word: who listens
        await page.screenshot({ path: file })
      })
    if (argument === '--readme')
      await readme(demo, (path, file) => shoot(parley, path, file, { viewport: { width: 1280, height: 760 }, deviceScaleFactor: 1.2 }))
    else {
      mkdirSync(argument, { recursive: true })
      for (const [look, options] of Object.entries(LOOKS)) {
        const file = (name: string) => join(argument, `${name}-${look}.png`)
        await shoot(nothing, '/', file('home-empty'), options, [])
        await shoot(nothing, '/approvals', file('approvals-empty'), options, [])
        for (const [name, path] of [...pagesOf(demo, trace, sleeping.id, agents, proposals), ...recordPages(records)])
          await shoot(parley, path, file(name), options)
        await shoot(parley, '/sign-in', file('sign-in'), options, [])
        await shoot(parley, '/nothing', file('not-found'), options, [])
      }
      console.log(`Pictures are in ${argument}`)
    }
  } finally {
    sleeping.letGo()
    await leave()
    await browser.close()
    await parley.stop()
    await nothing.stop()
  }
}

const pagesOf = (
  { busy, concluded, empty }: Demo,
  trace: string,
  asleep: string,
  { session, child }: AgentsDemo,
  { parser, again, guide }: Proposals,
): [name: string, path: string][] => [
  ['home', '/'],
  ['home-search', '/?q=recovery'],
  ['search', '/search?q=parser+recovery'],
  ['session', `/sessions/${busy}`],
  ['session-concluded', `/sessions/${concluded}`],
  ['session-empty', `/sessions/${empty}`],
  ['session-asleep', `/sessions/${asleep}`],
  ['history', `/sessions/${busy}/history`],
  ['difference', `/sessions/${busy}/history?from=1&to=3&view=split`],
  ['trace', `/sessions/${trace}`],
  ['trace-event', `/sessions/${trace}/turns/1?event=5#e5`],
  ['turns', `/sessions/${busy}/turns/4`],
  ['new', '/sessions/new'],
  ['conclude', `/sessions/${busy}/conclude`],
  ['edit', `/sessions/${busy}/edit`],
  ['share', `/sessions/${busy}/share`],
  ['resume', `/sessions/${concluded}/resume`],
  ['connect', '/connect'],
  ['invite', `/connect?session=${busy}`],
  ['settings', '/settings'],
  ['notifications', '/settings#notifications'],
  ['keys', '/settings/keys'],
  ['agent', `/sessions/${session}`],
  ['agent-child', `/sessions/${child}`],
  ['prompt', `/sessions/${session}/prompt`],
  ['worktrees', '/worktrees'],
  ['approvals', '/approvals'],
  ['approvals-decided', '/approvals?show=decided'],
  ['approvals-expired', '/approvals?show=expired'],
  ['approval', `/approvals/${guide}`],
  ['approval-replaces', `/approvals/${again}`],
  ['session-proposals', parser.path],
  ['status', '/status'],
]

const recordPages = ({ session, before, owner }: RecordsDemo): [name: string, path: string][] => [
  ['board', `/sessions/${session}/board`],
  ['session-records', `/sessions/${session}/records`],
  ['records', '/records'],
  ['records-person', `/records?owner=${owner}`],
  ['records-series', `/records?series=${before}&type=decision`],
  ['work-new', `/sessions/${session}/board/new`],
]

// The demo was said and written within a second. As it would have been: over an hour or so, the older the session the longer ago.
const age = ({ services: { database } }: Site) =>
  database.transaction(async ({ query }) => {
    await query(
      `create temporary table placed on commit drop as select session_id, version,
         (select max(sequence) from events e where e.session_id = h.session_id and e.at <= h.written_at) as sequence from session_doc_history h`,
    )
    await query(
      `with aged as (
         select id, 0.3 + 11 * (n - 1) * (n - 1) as ended, 35 + 17 * n as lasted
         from (select id, row_number() over (order by coalesce(last_event_at, created_at) desc) as n from sessions) s
       ), timed as (
         select e.id, now() - (ended + lasted * (1 - sum(gap) over (partition by session_id order by sequence) / sum(gap) over (partition by session_id))) * interval '1 minute' as at
         from (select *, (1 + sequence * sequence * 7 % 5)::float8 as gap from events) e join aged on aged.id = e.session_id
       )
       update events set at = timed.at from timed where timed.id = events.id`,
    )
    await query(
      `update sessions s set created_at = first, last_event_at = last, closed_at = case when closed_at is not null then last end
       from (select session_id, min(at) as first, max(at) as last from events group by 1) e where e.session_id = s.id`,
    )
    await query(`update sessions set created_at = now() - interval '3 hours' where last_sequence = 0`)
    await query(
      `update session_doc_history h set written_at = e.at + h.version * interval '5 seconds' from placed p join events e using (session_id, sequence)
       where p.session_id = h.session_id and p.version = h.version`,
    )
  })

type Proposals = Awaited<ReturnType<typeof fillProposals>>

/** What waits for Robin, who has decided some of it. */
const proposed = async ({ url, post }: Site, robin: readonly { name: string; value: string }[]): Promise<Proposals> => {
  const headers = { 'content-type': 'application/json', cookie: robin.map(({ name, value }) => `${name}=${value}`).join('; ') }
  const decide = (id: string, body: object) => fetch(`${url}/api/approvals/${id}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const filled = await fillProposals(post, (id, feedback) => decide(id, { action: 'reject', feedback }))
  await decide(filled.first, { action: 'approve' })
  return filled
}

const imported = async ({ url }: Site): Promise<string> => {
  const answer = await fetch(`${url}/api/traces`, { method: 'POST', body: demoTranscript() })
  return ((await answer.json()) as { session_id: string }).session_id
}

const readme = async (demo: Demo, shoot: (path: string, file: string) => Promise<void>) => {
  for (const [name, path] of [
    ['session', `/sessions/${demo.busy}`],
    ['home', '/'],
  ]) {
    const file = join(ROOT, 'public', `${name}.png`)
    await shoot(path!, file)
    const { size } = statSync(file)
    console.log(`${file}: ${Math.round(size / 1024)} KiB`)
    if (size > README_LIMIT) throw new Error(`${file} is larger than a README should load.`)
  }
}

const signedIn = (browser: Browser, { url }: Site): Promise<Parameters<BrowserContext['addCookies']>[0]> =>
  usingPage(browser, url, {}, async (page, _, context) => {
    await page.goto(`/sign-in?key=${KEY}&name=Robin`)
    return context.cookies()
  })

/** The teams listen while the pictures are taken. */
const follow = ({ url }: Site, { busy, listeners }: Demo) => {
  const gone = new AbortController()
  const waiting = listeners.map(async (team) => {
    for (let cursor = ''; !gone.signal.aborted;) {
      const answer = await fetch(`${url}/api/sessions/${busy}/wait${cursor}`, { headers: { 'x-team-id': team }, signal: gone.signal })
      cursor = `?since_cursor=${((await answer.json()) as { next_cursor: number }).next_cursor}`
    }
  })
  return async () => {
    gone.abort()
    await Promise.allSettled(waiting)
  }
}

await main()
process.exit(0)
