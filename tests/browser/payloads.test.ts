// Everything an agent may write, with everything attackers are known to write in it, on real pages in a real browser.
import { beforeAll, describe, expect, test } from 'bun:test'
import type { BrowserContext, Page } from 'playwright'
import { renderMarkdown } from '../../src/markdown/render.ts'
import { pathProblem } from '../../src/core/text/path-overlap.ts'
import { nameIsPlain } from '../../src/core/text/text.ts'
import { FULL, shortOf } from '../support/full.ts'
import { soon } from '../support/parley.ts'
import { trace, type Step } from '../support/history.ts'
import { everyThird, HOSTILE, PAYLOADS, together } from '../support/payloads.ts'
import { withSite } from '../support/site.ts'

const POLICIES = [
  ['with no policy at all', { bypassCSP: true }],
  ['under its policy', {}], // which stops what the other finds
] as const
const CALM = 'lorem alert(1) ipsum' // also says what is looked for
const ROWS = 120 // more than a page begins with
const NAMES = FULL ? 150 : 30
const SESSIONS = FULL ? 60 : 12
const WORK = FULL ? 80 : 20
const LIVE = FULL ? 80 : 25
const PROPOSALS = FULL ? 70 : 20 // a session may have 100 pending
const EVENTS = 149 // with the prompt, what one page of a turn holds
const TURNS = 99
const NOTED = ['reasoning', 'runtime', 'unknown', 'system', 'compaction', 'runtime']

// Every team is away from the start: a page that loads later, on a slow machine, shows the same roster.
const { parley, using, robin, asRobin } = withSite({ IDLE_AFTER: '1', DISCONNECTED_AFTER: '2' })
let calm: Meeting
let hostile: Meeting
let calmWork: Meeting
let hostileWork: Meeting

interface Meeting {
  path: string
  /** A transcript that says the same. */
  transcript: string
  token: string
}

beforeAll(async () => {
  calm = await meeting([
    '# lorem\n\n## a\n\n### b\n\n#### c\n\n##### d\n\n###### e\n\n- [x] **ipsum** `dolor` [sit](https://a.example)\n\n```ts\nconst a = 1 // "b"\n```',
    ...Array.from({ length: ROWS }, () => CALM),
  ])
  hostile = await meeting(everyThird(HOSTILE))
  for (const payload of HOSTILE.slice(0, SESSIONS)) await convene(payload)
  calmWork = await workshop(Array.from({ length: WORK }, () => CALM))
  hostileWork = await workshop(HOSTILE.slice(0, WORK))
}, 240_000)

const fit = (text: string, characters: number) => [...text].slice(0, characters).join('')
const convene = async (payload: string) => {
  const name = nameIsPlain(fit(payload, 100)) ? fit(payload, 100) : "Alex's Team"
  const { session_id, team_id } = await parley.post('/sessions', {
    title: fit(payload, 200),
    description: payload,
    creator_team_name: name,
  })
  return { path: `/sessions/${session_id}`, transcript: '', token: team_id! }
}

const meetings = () => [calm, hostile] as const

/** A session in which each text stands as title, description, reason and message, as team name where it may be one, and in the doc. */
const meeting = async (texts: readonly string[]): Promise<Meeting> => {
  const { path, token } = await convene(CALM)
  const post = (to: string, body: unknown) => parley.post(`${path}${to}`, body, token)
  await together(texts, (text) => post('/messages', { content: { text } }))
  for (const [i, text] of everyThird([...new Set(texts)]).entries()) {
    if (text.trim() === '') continue
    await post('/metadata', { title: fit(`${text} ${i}`, 200), description: text, reason: fit(text, 2_000) })
  }
  const names = [...new Set(texts.map((text) => fit(text, 100)))].filter(nameIsPlain).slice(0, NAMES)
  // One after the other: of many that join one session at once the last waits for all others, on a busy machine longer than an answer may take.
  for (const team_name of names) {
    const { team_id } = await parley.post(`${path}/join`, { team_name })
    await parley.post(`${path}/messages`, { content: { text: team_name }, to: [team_name] }, team_id)
  }
  await post('/doc', { content: `## Conclusion\n\nalert(1)\n\n${texts.join('\n\n')}`, expected_version: 0 })
  await post('/doc/append', { text: texts.toReversed().join('\n\n') })
  await propose(path, texts, token)
  await post('/metadata', { title: `${texts[0]!.slice(0, 100)} alert(1)`, reason: CALM }) // last, so that each page shows such a row
  return { path, transcript: await transcript(texts), token }
}

/** Proposals of whose texts each is one of these; every third is rejected with it, and proposed again. */
const propose = async (path: string, texts: readonly string[], token: string) => {
  const cookie = await robin()
  const made = async (tool: string, said: object) => (await parley.post(`/records/propose_${tool}`, said, token)).id!
  const [{ id: source_event_id }] = (await parley.services.database.query<{ id: string }>(
    `select id from events where session_id = $1 and type = 'chat' limit 1`,
    [path.slice('/sessions/'.length)],
  )) as [{ id: string }]
  for (const [i, text] of texts.slice(0, PROPOSALS).entries()) {
    const said = {
      title: fit(`${i} ${text.replace(/[\r\n]/g, ' ')} lorem`, 200),
      description: fit(`${text} ipsum`, 1_000),
      source_quote: fit(text, 500),
    }
    const owner_name = fit(text, 100)
    const id =
      i % 2
        ? await made('action_item', { ...said, due_date: '2027-01-01T09:00:00Z', ...(nameIsPlain(owner_name) && { owner_name }) })
        : await made('decision', { ...said, rationale: fit(text, 1_000), source_event_id })
    if (i % 3) continue
    const body = JSON.stringify({ action: 'reject', feedback: fit(text, 2_000) })
    const headers = { cookie, 'content-type': 'application/json' }
    const answer = await fetch(`${parley.url}/api/approvals/${id}`, { method: 'POST', headers, body })
    expect(answer.status).toBe(200)
    await made('action_item', { title: fit(`${i} ${text.replace(/[\r\n]/g, ' ')} ipsum`, 200), description: 'alert(1)', replaces: id })
  }
}

/** A session with a board and records of whose texts each is one of these: titles, descriptions, paths, notes, results, reasons. */
const workshop = async (texts: readonly string[]): Promise<Meeting> => {
  const { path, token } = await convene(CALM)
  const cookie = await robin()
  const post = (to: string, body: unknown, by: Record<string, string> = { 'x-team-id': token }) =>
    fetch(`${parley.url}/api${to}`, { method: 'POST', headers: { 'content-type': 'application/json', ...by }, body: JSON.stringify(body) })
  const line = (text: string, i: number) => fit(`${text.replace(/[\r\n]/g, ' ')} alert(1) ${i}`, 200)
  const pathOf = (text: string) => fit(text.replace(/[\r\n]/g, ''), 150)
  for (const [i, text] of texts.entries()) {
    const paths = pathProblem(pathOf(text)) ? [] : [pathOf(text)]
    const planned = await post(`${path}/work`, {
      items: [{ title: `Work ${line(text, i)}`.slice(0, 190), description: fit(text, 4_000), paths }],
    })
    expect([text, planned.status]).toEqual([text, 200])
    const { item_id } = ((await planned.json()) as any).items[0]
    const status = [undefined, 'done', 'dropped', undefined][i % 4]
    if (i % 4 < 2) await post(`${path}/work/claim`, { item_id, allow_overlap: true })
    await post(`${path}/work/${item_id}`, { ...(status && { status }), note: fit(text, 1_000), result: fit(text, 2_000) })
    if (i % 5) continue
    const said = {
      title: `Record ${line(text, i)}`.slice(0, 190),
      description: fit(`${text} ipsum`, 1_000),
      rationale: fit(`${text}.`, 1_000),
    }
    const proposed = await parley.post('/records/propose_decision', said, token)
    const approved = await post(`/approvals/${proposed.id}`, { action: 'approve' }, { cookie })
    const { record } = (await approved.json()) as any
    if (i % 2) await post(`/records/${record.decision_id}/withdraw`, { reason: `${fit(text, 900)}.` }, { cookie })
  }
  return { path, transcript: '', token }
}

/** A trace in which each text stands wherever a transcript may have one; its first turn has several of everything. */
const transcript = async (texts: readonly string[]): Promise<string> => {
  const all = texts.map((text) => text.replaceAll('\0', '').toWellFormed())
  const given = Object.fromEntries(all.slice(0, 40).map((text, i) => [`${fit(text, 60)} ${i}`, i % 2 ? text : { [text]: [text] }]))
  const mixed = all.flatMap((text, i): Step[] => [
    { type: 'tool_call', tool: `${text} ${i}`, madeBy: text, content: { arguments: i === 0 ? given : { command: text } } },
    { type: 'tool_response', tool: `${text} ${i}`, content: { text: `${text}\n${text}`, exit_code: 1 } },
    { type: NOTED[i % NOTED.length]!, content: { event: text, text, data: { [text]: text } }, model: text },
  ])
  const asked = all.map((text): Step[] => [
    { type: 'user_input', text },
    { type: 'assistant_response', text, model: text, terminal: true },
  ])
  const served = { ...parley, database: parley.services.database } as never
  const turns = [[{ type: 'user_input', text: CALM }, ...mixed.slice(0, EVENTS)], ...asked.slice(0, TURNS)]
  return (await trace(served, turns, { title: fit(all[0]!, 200) })).id
}

/** What is in the page and would not be in a page of ours: read by the browser, not by a parser of our own. */
const foreign = (page: Page, ours: Shape) =>
  page.evaluate(({ tags, attributes, ids }) => {
    const found: string[] = []
    const seen = new Set<string>()
    for (const element of document.querySelectorAll('*')) {
      const tag = element.localName
      if (!tags.includes(tag)) found.push(`<${tag}>`)
      for (const { name, value } of element.attributes) {
        const coming = element.id === 'older' && name === 'data-before' && /^\d+$/.test(value) // older rows, which come by themselves
        if (!coming && !attributes.includes(`${tag} ${name}`)) found.push(`<${tag} ${name}="${value}">`)
        const acts = `${name}="${value.replace(/p?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<=together-)[\da-f]{12}|[\w-]{36}|[\d.]+/g, '')}"`
        if (name === 'style' || (/^(data-)?hx-/.test(name) && !attributes.includes(acts))) found.push(acts)
      }
      if (
        element.id &&
        (seen.has(element.id) ||
          !(
            /^[mvbed]\d+$|^(?:[pwr]|depends_on\.)[\da-f-]{36}(?:-[a-z_-]+)?$|^together-[\da-f]{12}$|^doc-[\p{L}\p{M}\p{N}-]+$/u.test(
              element.id,
            ) || ids.includes(element.id)
          ))
      )
        found.push(`#${element.id}`)
      seen.add(element.id)
      if (element instanceof HTMLAnchorElement && element.hasAttribute('href') && !/^(https?|mailto):$/.test(element.protocol))
        found.push(element.href)
      if (element instanceof HTMLFormElement && !(element.getAttribute('action') ?? '/').startsWith('/')) found.push(element.outerHTML)
      if (element.closest('.prose') && element.classList.length > 0 && !element.classList.contains('prose'))
        for (const name of element.classList) if (!/^(hl-[kscn]|cb|cb-on|ctl|anchor|flash)$/.test(name)) found.push(`.${name}`)
    }
    return [...new Set(found)]
  }, ours)

interface Shape {
  tags: string[]
  attributes: string[]
  ids: string[]
}

// What markdown and the rows of a feed may add to a page where nobody wrote any.
const WRITTEN = 'h1 h2 h3 h4 h5 h6 p br hr blockquote pre code em strong del a span ul ol li table thead tbody tr th td s q b'.split(' ')
const WITH =
  'a href,a title,a rel,a target,pre tabindex,span class,span role,span aria-label,th align,td align,ol start,ul dir,ol dir,blockquote dir,table dir,table tabindex'.split(
    ',',
  )

const shapeOf = async (page: Page): Promise<Shape> => {
  const { tags, attributes, ids } = await page.evaluate(() => {
    const all = [...document.querySelectorAll('*')]
    return {
      tags: [...new Set(all.map(({ localName }) => localName))],
      attributes: [
        ...new Set(
          all.flatMap((element) =>
            [...element.attributes].flatMap(({ name, value }) => [
              `${element.localName} ${name}`,
              `${name}="${value.replace(/p?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}|(?<=together-)[\da-f]{12}|[\w-]{36}|[\d.]+/g, '')}"`,
            ]),
          ),
        ),
      ],
      ids: all.map(({ id }) => id),
    }
  })
  return { tags: [...new Set([...tags, ...WRITTEN])], attributes: [...new Set([...attributes, ...WITH])], ids: [...new Set(ids)] }
}

/** Notes what must not happen: a script of theirs, a request to elsewhere, a way away from the page. */
const watch = async (context: BrowserContext) => {
  const deeds: string[] = []
  await context.exposeFunction('owned', (what: string) => void deeds.push(what))
  await context.addInitScript(() => {
    for (const name of ['alert', 'confirm', 'prompt', 'print', 'open'] as const)
      Object.defineProperty(window, name, { value: (text: unknown) => (window as any).owned(`${name}(${text})`) })
  })
  await context.route(
    (url) => url.origin !== parley.url,
    (route) => {
      deeds.push(route.request().url())
      return route.abort()
    },
  )
  context.on('page', (page) => page.opener().then((opener) => opener && deeds.push(`opened ${page.url()}`)))
  return deeds
}

// The pointer and the keyboard over everything, and what only happens then.
const touchEverything = (page: Page) =>
  page.evaluate(() => {
    const events = [
      'pointerover',
      'mouseover',
      'mouseenter',
      'focus',
      'focusin',
      'pointermove',
      'pointerrawupdate',
      'toggle',
      'beforeinput',
      'wheel',
    ]
    for (const element of document.querySelectorAll('main *'))
      for (const name of events) element.dispatchEvent(new Event(name, { bubbles: true }))
  })

describe.each(shortOf(POLICIES, 1))('a page %s', (_, options) => {
  const PAGES: [string, (meeting: Meeting) => string][] = [
    ['a session with its whole feed', ({ path }) => `${path}?all=1`],
    ['a session', ({ path }) => path],
    ['a transcript', ({ transcript }) => `/sessions/${transcript}/turns/1?event=3`],
    ['the inbox', ({ path }) => `/approvals?meeting=${path.slice('/sessions/'.length)}`],
    ['home', () => '/'],
    ['the history of a doc', ({ path }) => `${path}/history`],
    ['the way to a conclusion', ({ path }) => `${path}/conclude`],
    ['the way to another title', ({ path }) => `${path}/edit`],
    ['an invitation', ({ path }) => `/connect?session=${path.slice('/sessions/'.length)}`],
    ['what was decided', ({ path }) => `/approvals?show=decided&meeting=${path.slice('/sessions/'.length)}`],
  ]
  const OF_WORK: typeof PAGES = [
    ['a board', ({ path }) => `${path}/board?all=1`],
    ['the records of a session', ({ path }) => `${path}/records`],
    ['records', ({ path }) => `/records?meeting=${path.slice('/sessions/'.length)}`],
    ['the way to more work', ({ path }) => `${path}/board/new`],
  ]
  for (const [name, at] of [...shortOf(PAGES, 3), ...shortOf(OF_WORK, 1)])
    test(`${name}: nothing runs, nothing is fetched, nothing stands there that is not ours`, () =>
      using(options, async (page, complaints, context) => {
        await asRobin(page)
        const [calm, hostile] = OF_WORK.some(([one]) => one === name) ? [calmWork, hostileWork] : meetings()
        await page.goto(at(calm))
        const ours = await shapeOf(page)
        const deeds = await watch(context)
        const response = await page.goto(at(hostile))
        expect(response!.status()).toBe(200)
        await touchEverything(page)
        await page.waitForTimeout(300)
        expect(await page.content()).toContain('alert(1)')
        expect(await foreign(page, ours)).toEqual([])
        expect(page.url()).toBe(parley.url + at(hostile))
        expect(deeds).toEqual([])
        expect(complaints).toEqual([])
      }))

  test('what comes while the page is open does nothing either, and each message is one row', () =>
    using(options, async (page, complaints, context) => {
      const { path, token } = await meeting([CALM])
      const deeds = await watch(context)
      const shapes: Shape[] = []
      for (const at of [calm.path, `${calm.path}?all=1`]) {
        await page.goto(at)
        shapes.push(await shapeOf(page))
      }
      const all = (part: keyof Shape) => shapes.flatMap((shape) => shape[part])
      const ours: Shape = { tags: all('tags'), attributes: [...all('attributes'), 'a data-news'], ids: all('ids') }
      await page.goto(path)
      const before = await page.locator('.row-message').count()
      const texts = HOSTILE.filter((text) => /hx|\r|data:|id:|event:/.test(text)).slice(0, LIVE)
      for (const text of texts) {
        await parley.post(`${path}/messages`, { content: { text } }, token)
        await parley.post(`${path}/metadata`, { title: fit(`${text} !`, 200), description: text, reason: fit(text, 2_000) }, token)
      }
      await parley.post(`${path}/doc/append`, { text: texts.join('\n\n') }, token)
      await page.waitForFunction((rows) => document.querySelectorAll('.row-message').length >= rows, before + texts.length)
      await page.locator('#document', { hasText: 'hx-partial' }).waitFor()
      await touchEverything(page)
      expect(await page.locator('.row-message').count()).toBe(before + texts.length)
      expect(await foreign(page, ours)).toEqual([])
      expect(deeds).toEqual([])
      expect(complaints).toEqual([])
    }))
})

test('every known payload, rendered and read by the browser, is text', () =>
  using({ bypassCSP: true }, async (page, complaints, context) => {
    const deeds = await watch(context)
    await page.goto('/connect')
    const harm = await page.evaluate(
      ({ rendered, tags, attributes }) =>
        rendered.flatMap(({ payload, html }) => {
          const place = document.createElement('div')
          document.body.append(place)
          place.innerHTML = html
          const wrong = [...place.querySelectorAll('*')].filter(
            (element) =>
              !tags.includes(element.localName) ||
              element.getAttributeNames().some((name) => !attributes.includes(`${element.localName} ${name}`)) ||
              (element instanceof HTMLAnchorElement && element.hasAttribute('href') && !/^(https?|mailto):$/.test(element.protocol)),
          )
          place.remove()
          return wrong.map((element) => `${payload} → ${element.outerHTML}`)
        }),
      { rendered: PAYLOADS.map((payload) => ({ payload, html: renderMarkdown(payload) })), tags: WRITTEN, attributes: WITH },
    )
    expect(harm).toEqual([])
    expect(deeds).toEqual([])
    expect(complaints).toEqual([])
  }))

test('what is asked for is shown as text as well: a search, a page that is not there', () =>
  using({ bypassCSP: true }, async (page, _, context) => {
    const deeds = await watch(context)
    for (const payload of HOSTILE.slice(0, FULL ? 15 : 5)) {
      await page.goto(`/?q=${encodeURIComponent(payload)}`)
      expect(await page.locator('main img, main script, main iframe, main [onerror]').count()).toBe(0)
      await page.goto(`/${encodeURIComponent(payload)}`)
      expect(await page.locator('main img, main script, main iframe, main [onerror]').count()).toBe(0)
    }
    expect(deeds).toEqual([])
  }))

test('the traps of these tests catch what they are for', () =>
  using({ bypassCSP: true }, async (page, _, context) => {
    await page.goto(calm.path)
    const ours = await shapeOf(page)
    const deeds = await watch(context)
    await page.goto(calm.path)
    const harm = '<img src="https://evil.example/seen.png" onerror="alert(1)"><p id="feed" style="top:0" hx-get="/settings">x</p>'
    await page.evaluate((html) => document.querySelector('#rows')!.insertAdjacentHTML('beforeend', html), harm)
    await soon('both traps have caught it', () => deeds.length >= 2)
    expect(deeds).toEqual(['https://evil.example/seen.png', 'alert(1)'])
    const found = (await foreign(page, ours)).join(' ')
    for (const part of ['<img>', 'style="top:"', 'hx-get="/settings"', '#feed']) expect(found).toContain(part)
  }))
