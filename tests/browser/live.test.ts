import { expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { topicOf } from '../../src/log/topics.ts'
import { CUT_KIND } from '../../src/process/publish.ts'
import { thatCanBeCut } from '../support/proxy.ts'
import { FULL } from '../support/full.ts'
import { leastShift, MOBILE, observeShifts, openLive, serveSite, withSite } from '../support/site.ts'

const SOON = { timeout: 20_000 } // what is promised is 300 ms; bench/pages measures it
const LATER = { timeout: 15_000 }

const { parley, using, asRobin } = withSite({ LOOP_GUARD: 'off' }) // the teams of these tests do repeat themselves, which would show

/** A session with two teams and so many messages in it, by turns. */
const room = async (messages = 0, { post } = parley) => {
  const alex = await post('/sessions', {
    title: 'Shipping the parser',
    description: '',
    creator_team_name: "Alex's Team",
    expected_teams: 3,
  })
  const path = `/sessions/${alex.session_id}`
  const bea = await post(`${path}/join`, { team_name: "Bea's Team" })
  const say = (text: string, who = bea) => post(`${path}/messages`, { content: { text } }, who.team_id)
  for (let n = 1; n <= messages; n += 50)
    await Promise.all(Array.from({ length: Math.min(50, messages - n + 1) }, (_, i) => say(`message ${n + i}`, (n + i) % 2 ? alex : bea)))
  return { path, alex, bea, say, post }
}

// One that is read alone: 350 rows, three and a half pages of them.
let long: ReturnType<typeof room> | undefined
const longRoom = () => (long ??= room(349))

const sequences = (page: Page) => page.$$eval('#rows > .row', (rows) => rows.map(({ id }) => Number(id.slice(1))))
const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1)
const row = (page: Page, text: string) => page.locator('.row-message', { hasText: text }).waitFor(SOON)
const hide = (page: Page, hidden: boolean) =>
  page.evaluate((is) => {
    Object.defineProperty(document, 'hidden', { value: is, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)
const until = async (holds: () => boolean | Promise<boolean>, ms = 30_000) => {
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(10)) if (await holds()) return
  throw new Error(`not within ${ms} ms`)
}

test('a post is on the open page at once, under one name with the one before', () =>
  using({}, async (page, complaints) => {
    const { path, say } = await room(3)
    await openLive(page, path)
    const took: number[] = []
    for (let n = 0; n < 10; n++) {
      const begin = performance.now()
      await say(`live ${n}`)
      await page.waitForFunction((text) => document.querySelector('#rows')!.lastElementChild!.textContent.includes(text), `live ${n}`, SOON)
      took.push(performance.now() - begin)
    }
    console.log(`from a post to the open page: median ${took.toSorted((a, b) => a - b)[5]!.toFixed(0)} ms`)
    expect(await sequences(page)).toEqual(upTo(14))
    expect(await page.locator('#m14 b[data-hue]').count()).toBe(0) // goes on from the one before
    expect(await page.locator('#count').textContent()).toBe('13')
    expect(complaints).toEqual([])
  }))

test('document, teams, title and conclusion follow, where things may move; a reopened session goes on', () =>
  using({ reducedMotion: 'no-preference' }, async (page, complaints) => {
    const { path, alex, bea, say, post } = await room(2)
    await openLive(page, path)
    await post(`${path}/doc/append`, { text: '# Plan\n\n- lexer' }, bea.team_id)
    await page.locator('#doc h1', { hasText: 'Plan' }).waitFor(LATER)
    expect(await page.locator('#written').textContent()).toContain("v1Bea's Team")
    await post(`${path}/doc/append`, { text: '- printer' }, bea.team_id)
    await page.locator('#doc li.flash', { hasText: 'printer' }).waitFor(LATER)
    expect(await page.locator('#doc .flash').count()).toBe(1) // what is new, and nothing else
    expect(await page.locator('#written a').getAttribute('href')).toBe(`${path}/history?from=1&to=2`)

    await post(`${path}/join`, { team_name: 'Cleo' })
    await page.locator('#roster', { hasText: 'Cleo' }).waitFor(SOON)
    expect(await page.locator('#roster').textContent()).not.toContain('Waiting for')

    await post(`${path}/metadata`, { title: 'Parser and printer', reason: 'It grew.' }, bea.team_id)
    await page.locator('h1.flash', { hasText: 'Parser and printer' }).waitFor(SOON)
    expect(await page.title()).toBe('Parser and printer · Parley')

    expect(await page.locator('#conclusion').isVisible()).toBe(false)
    await post(`${path}/conclude`, { summary_section: 'It **ships**.' }, alex.team_id)
    await page.locator('#conclusion strong', { hasText: 'ships' }).waitFor(LATER)
    expect(await page.locator('h1 + [data-slot=badge]').textContent()).toBe('Concluded')
    await until(() => parley.services.streams.open === 0) // nothing more will come

    await post(`${path}/reopen`, { reason: 'A bug.' }, alex.team_id)
    await say('on we go')
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange'))) // sooner than by itself
    await row(page, 'on we go')
    expect(await page.locator('h1 + [data-slot=badge]').textContent()).toBe('Live')
    expect(await page.locator('#conclusion').isVisible()).toBe(false)

    await post(`${path}/doc/append`, { text: '- found late' }, bea.team_id)
    await page.locator('#doc li.flash', { hasText: 'found late' }).waitFor(LATER)
    expect(await page.locator('#doc .flash').count()).toBe(1) // the conclusion behind it is not
    await page.locator('#doc ul + h2', { hasText: 'Conclusion' }).waitFor(SOON)
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('teams out of sight are counted, and come in sight', () =>
  using({ viewport: { width: 640, height: 800 } }, async (page) => {
    const { path, post } = await room(2)
    await openLive(page, path)
    const more = page.locator('#teams button')
    expect(await more.isVisible()).toBe(false)
    for (let n = 1; n <= 9; n++) await post(`${path}/join`, { team_name: `Team number ${n}` })
    await page.locator('#roster', { hasText: 'number 9' }).waitFor(SOON)
    const hidden = async () => Number((await more.textContent())!.slice(1))
    await until(async () => (await hidden()) >= 6)
    const before = await hidden()
    await more.click()
    await until(async () => (await hidden()) < before)
    await page.evaluate(() => document.querySelector('#roster')!.scrollTo(10_000, 0))
    await more.waitFor({ state: 'hidden' })
    expect(await page.locator('.cut').count()).toBe(0)
  }),
)

test.skipIf(!FULL)('the dots follow who polls', () =>
  using({}, async (page) => {
    const quick = await serveSite({ IDLE_AFTER: '1', DISCONNECTED_AFTER: '8' })
    try {
      const { path, bea } = await room(1, quick)
      await page.goto(quick.url + path)
      const dot = page.locator('#roster li', { hasText: "Bea's Team" }).locator('.dot .sr-only')
      const shows = (word: string) => until(async () => (await dot.textContent()) === word)
      await shows('Idle')
      await shows('Disconnected')
      const wait = (since = '') => fetch(`${quick.url}/api${path}/wait?timeout=5${since}`, { headers: { 'x-team-id': bea.team_id! } })
      const { next_cursor } = (await (await wait()).json()) as { next_cursor: number } // what was said before she waited
      const waiting = wait(`&since_cursor=${next_cursor}`)
      await shows('Active')
      await page.locator('#listening', { hasText: '1 team is listening' }).waitFor(SOON)
      expect(await page.locator('#listening').textContent()).toContain("Alex's Team is to conclude")
      await (await waiting).text()
    } finally {
      await quick.stop()
    }
  }),
)

test('three seconds without a network lose nothing and repeat nothing', () =>
  using({}, async (page) => {
    const proxy = await thatCanBeCut(parley.url)
    try {
      const { path, say } = await room(2)
      await openLive(page, proxy.url + path)
      await say('before')
      await row(page, 'before')
      proxy.cut()
      for (let n = 0; n < 5; n++) await say(`missed ${n}`)
      await page.locator('#reconnecting').waitFor({ state: 'visible', ...LATER })
      await Bun.sleep(3_000)
      proxy.heal()
      await page.locator('.row-message', { hasText: 'missed 4' }).waitFor(LATER)
      await say('after')
      await row(page, 'after')
      expect(await sequences(page)).toEqual(upTo(10))
      expect(await page.locator('#reconnecting').isVisible()).toBe(false)
    } finally {
      await proxy.close()
    }
  }))

test.skipIf(!FULL)('a refused first connection is tried again', () =>
  using({}, async (page) => {
    const { path, say } = await room(2)
    let refused = 0
    await page.route('**/live?*', (route) => {
      if (++refused > 3) return route.continue()
      return refused === 1 ? route.abort('connectionrefused') : route.fulfill({ status: 503, body: 'not now' })
    })
    await page.goto(path)
    await say('meanwhile')
    await page.locator('#reconnecting').waitFor({ state: 'visible', ...LATER })
    await page.locator('.row-message', { hasText: 'meanwhile' }).waitFor(LATER)
    expect(refused).toBeGreaterThan(3)
    expect(await sequences(page)).toEqual(upTo(4))
    expect(await page.locator('#reconnecting').isVisible()).toBe(false)
    expect(await page.locator('main').textContent()).not.toContain('not now')
  }),
)

test.skipIf(!FULL)(
  'a page that is closed to its reader says so, also where a page to sign in takes its place, and a purged session as well',
  () =>
    using({}, async (page) => {
      const { path, say } = await room(2)
      const bar = page.locator('#reconnecting')
      for (const [answer, text] of [
        [{ status: 403 }, 'You no longer have access to this page.'],
        [{ status: 303, headers: { location: '/sign-in' } }, 'You no longer have access to this page.'],
        [{ status: 404 }, 'This session was purged.'],
      ] as const) {
        await page.route('**/live?*', (route) => route.fulfill(answer))
        await page.goto(path)
        await bar.getByText(text).waitFor(SOON)
        await page.unroute('**/live?*')
      }
      await say('meanwhile')
      await page.evaluate(() => dispatchEvent(new Event('reconnect')))
      await row(page, 'meanwhile')
      expect(await bar.isVisible()).toBe(false)
      expect(await sequences(page)).toEqual(upTo(4))
    }),
)

test.skipIf(!FULL)('a silent connection gives way to another, and a concluded session is followed again once it is reopened', () =>
  using({}, async (page) => {
    const { path, alex, say, post } = await room(2)
    await page.clock.install()
    await page.route('**/live?*', () => {}, { times: 1 })
    const asking = page.waitForRequest('**/live?*')
    await page.goto(path)
    await asking
    await say('unheard')
    await page.clock.runFor(41_000)
    await row(page, 'unheard')

    const statuses: number[] = []
    page.on('response', (response) => void (response.request().method() === 'HEAD' && statuses.push(response.status())))
    const halfMinute = async (status: number) => {
      const before = statuses.length
      await page.clock.runFor(31_000)
      await until(() => statuses.length > before)
      expect(statuses.slice(before)).toEqual([status])
    }
    await post(`${path}/conclude`, { summary_section: 'It ships.' }, alex.team_id)
    await until(() => parley.services.streams.open === 0)
    for (let n = 0; n < 2; n++) await halfMinute(204)
    await post(`${path}/reopen`, { reason: 'A bug.' }, alex.team_id)
    await say('on we go')
    await halfMinute(200)
    await page.clock.runFor(1_000)
    await row(page, 'on we go')
    expect(await sequences(page)).toEqual(upTo(7))
  }),
)

test.skipIf(!FULL)('a page that shows more than the log has, as after a backup was restored, is loaded again', () =>
  using({}, async (page) => {
    const { path, alex, say } = await room(8)
    await openLive(page, path)
    const { database, publishTopic } = parley.services
    const id = alex.session_id!
    await database.query('delete from events where session_id = $1 and sequence > 5', [id])
    await database.query('update sessions set last_sequence = 5, last_conversation_sequence = 5 where id = $1', [id])
    publishTopic(topicOf(CUT_KIND, id), Date.now())
    await page.waitForFunction(() => document.querySelectorAll('#rows > .row').length === 5, undefined, SOON)
    await say('And now?')
    await row(page, 'And now?')
    expect(await sequences(page)).toEqual(upTo(6))
  }),
)

test.skipIf(!FULL)('who does not want to wait for the next attempt makes one', () =>
  using({}, async (page) => {
    const { path, say } = await room(2)
    let [refused, open] = [0, false]
    await page.route('**/live?*', (route) => (open ? route.continue() : (refused++, route.abort('connectionrefused'))))
    await page.goto(path)
    await say('meanwhile')
    await until(() => refused >= 4) // the next one would be 2.8 s away at least
    open = true
    await page.getByRole('button', { name: 'Retry now' }).click()
    await row(page, 'meanwhile')
    await page.locator('#reconnecting').waitFor({ state: 'hidden' })
  }),
)

test('a hidden tab lets go of its stream and catches up when it is seen again', () =>
  using({}, async (page, complaints) => {
    const { path, say } = await room(1)
    await openLive(page, path)
    await hide(page, true)
    await until(() => parley.services.streams.open === 0)
    for (let n = 0; n < 3; n++) await say(`unseen ${n}`)
    await hide(page, false)
    await row(page, 'unseen 2')
    expect(await sequences(page)).toEqual(upTo(5))
    expect(complaints).toEqual([])
  }))

test('half-typed text, focus, a selection and where one reads stay as they are', () =>
  using({}, async (page, complaints) => {
    const { path, say, post, bea } = await room(40)
    await post(`${path}/doc/append`, { text: `# Plan\n\nkeep this selected\n\n${'- line\n'.repeat(80)}` }, bea.team_id)
    await asRobin(page)
    await openLive(page, path)
    await page.evaluate(() => {
      document.querySelector('#doc')!.parentElement!.scrollTop = 120
      getSelection()!.selectAllChildren(document.querySelector('#doc p')!)
    })
    await page.locator('#message').fill('half a thought')
    await page.locator('#message').focus()
    // Rows take their true height when they are seen first.
    await page.evaluate(async () => {
      const scroller = document.querySelector('#scroller')!
      const place = () => `${scroller.scrollTop} of ${scroller.scrollHeight}`
      scroller.scrollTop = -600
      for (let before = ''; before !== place();) {
        before = place()
        for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame)
      }
    })
    const seen = await page.evaluate(() => {
      const { top } = document.querySelector('#scroller')!.getBoundingClientRect()
      return [...document.querySelectorAll('#rows > .row')].find((row) => row.getBoundingClientRect().top > top + 50)!.id
    })
    const placeOf = () => page.evaluate((id) => document.getElementById(id)!.getBoundingClientRect().top, seen)
    const place = await placeOf()
    await say('one more')
    await post(`${path}/doc/append`, { text: '- new line' }, bea.team_id)
    await row(page, 'one more')
    await page.locator('#doc li', { hasText: 'new line' }).waitFor(LATER)
    expect(await page.locator('#message').inputValue()).toBe('half a thought')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('message')
    expect(await page.evaluate(() => document.querySelector('#doc')!.parentElement!.scrollTop)).toBe(120)
    expect(Math.abs((await placeOf()) - place)).toBeLessThan(2)
    expect(await page.locator('#jump').textContent()).toBe('1 new message')
    expect(await page.title()).toBe('(1) Shipping the parser · Parley')
    await page.locator('#jump').click()
    await page.locator('#jump').waitFor({ state: 'hidden', ...SOON })
    expect(await page.title()).toBe('Shipping the parser · Parley')
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('an edit that goes on changes its row wherever that stands, and takes no focus away', () =>
  using({}, async (page, complaints) => {
    const { path, alex, bea, post } = await room(2)
    const append = (who: typeof bea) => post(`${path}/doc/append`, { text: '- a line' }, who.team_id)
    await append(bea)
    await openLive(page, path)
    await page.keyboard.press('k')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('d1')
    await page.evaluate(() => document.querySelector('#rows')!.append(document.createElement('li'))) // no longer the last
    await append(bea)
    await page.locator('#d1', { hasText: 'to v2' }).waitFor(LATER)
    await page.evaluate(() => new Promise((painted) => requestAnimationFrame(() => requestAnimationFrame(painted)))) // what is lost, is lost by then
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('d1')
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('What changed, v0 to v2')
    for (const who of [alex, bea, alex]) await append(who)
    await page.locator('#d5').waitFor(LATER)
    expect(await page.$$eval('#rows .row-doc', (rows) => rows.map(({ id }) => id))).toEqual(['d1', 'd4', 'd5'])
    expect(await page.locator('#d1').textContent()).toContain('The document was updated, v1 to v3')
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('What changed, v0 to v3')
    expect(complaints).toEqual([])
  }),
)

test('what came since the last visit stands under a line', () =>
  using({}, async (page) => {
    const { path, say } = await room(5)
    await openLive(page, path)
    expect(await page.locator('#unread').count()).toBe(0)
    await page.goto('/')
    await say('while away')
    await page.goto(path)
    await page.locator('#unread').waitFor(SOON)
    expect(await page.locator('#unread').innerText()).toBe('New since your last visit')
    expect(await page.locator('#unread + .row').getAttribute('id')).toBe('m7')
  }))

test('older rows come by themselves, also to a page that was opened in the background, and a link to one of them leads there', () =>
  using({}, async (page, complaints, context) => {
    const { path } = await longRoom()
    await page.goto(path)
    await until(async () => (await sequences(page)).length === 350)
    expect(await sequences(page)).toEqual(upTo(350))
    expect(await page.locator('#older').textContent()).toContain('Start of the session')
    expect(await page.evaluate(() => document.querySelector('#scroller')!.scrollTop)).toBe(0)

    const behind = await context.newPage()
    await behind.addInitScript(() => Object.defineProperty(document, 'hidden', { value: true, configurable: true }))
    await behind.goto(path)
    await behind.evaluate(() => new Promise((idle) => requestIdleCallback(idle))) // it would have begun by now
    expect((await sequences(behind)).length).toBe(100)
    await hide(behind, false)
    await until(async () => (await sequences(behind)).length === 350)

    await page.goto(`${path}?around=120`)
    await page.locator('#m120.sought').waitFor(SOON)
    expect(await page.locator('#m120').isVisible()).toBe(true)
    await page.evaluate(() => document.querySelector('#gap')?.scrollIntoView())
    await until(async () => {
      await page.evaluate(() => (document.querySelector('#gap') ?? document.querySelector('#older'))!.scrollIntoView())
      return (await sequences(page)).length === 350
    })
    expect(await sequences(page)).toEqual(upTo(350))
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('on a page with a gap nothing old is new, and a link leads beyond the gap', () =>
  using({}, async (page, complaints) => {
    const { path, say } = await room(349)
    await openLive(page, `${path}?around=120`)
    await page.evaluate(() => void (document.querySelector('#scroller')!.scrollTop = -600))
    await page.locator('#m171').waitFor({ state: 'attached', ...SOON }) // the first row of the gap
    await until(() => page.evaluate(() => document.querySelector('#scroller')!.scrollTop < -80)) // once the rows have found their places
    expect(await page.title()).toBe('Shipping the parser · Parley')
    expect(await page.locator('#jump').textContent()).toBe('Jump to latest')
    await say('one more')
    await page.locator('#m351').waitFor({ state: 'attached', ...SOON })
    expect(await page.title()).toBe('(1) Shipping the parser · Parley')
    await until(async () => (await page.locator('#news').textContent()) !== '')
    expect(await page.locator('#news').textContent()).toBe('1 new message')

    await openLive(page, `${path}?around=120`)
    expect(await page.locator('#m300').count()).toBe(0)
    await page.evaluate("location.hash = 'm300'")
    await page.waitForURL('**?around=300#m300')
    expect(await page.locator('#m300').isVisible()).toBe(true)
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)(
  'the button that leads to the newest beyond a gap asks whoever has typed something, and leaves what stands beside the feed',
  () =>
    using({}, async (page, complaints) => {
      const { path } = await longRoom()
      await asRobin(page)
      let goes = false
      page.on('dialog', (dialog) => (goes ? dialog.accept() : dialog.dismiss()))
      const jump = () => page.locator('#jump').click()
      const isAt = async (at: string) => {
        await page.waitForURL((url) => url.pathname + url.search + url.hash === at)
        await page.locator('#m350').waitFor(SOON)
      }
      await openLive(page, `${path}/board?around=120#m120`)
      await page.locator('#message').fill('half a thought')
      await jump()
      expect(complaints).toEqual([expect.stringContaining('dialog: The newest messages are on another page')])
      expect(page.url()).toEndWith('#m120')
      expect(await page.locator('#message').inputValue()).toBe('half a thought')
      goes = true
      await jump()
      await isAt(`${path}/board`)
      await openLive(page, `${path}?answer=7&around=120`)
      await page.locator('#scroller').focus()
      await page.keyboard.press('g')
      await isAt(`${path}?answer=7`)
      expect(complaints.length).toBe(2) // there was nothing to lose
    }),
)

test.skipIf(!FULL)(
  'rows that could not be loaded are asked for again after a while, and no more once that is refused, until the page is connected anew',
  () =>
    using({}, async (page) => {
      const { path } = await longRoom()
      let [broken, refuses, asked, refused] = [true, true, 0, 0]
      await page.route('**/rows?*', (route) => {
        asked++
        if (broken) return route.fulfill({ status: 503, body: 'not now' })
        if (!refuses || asked <= 3) return route.continue()
        refused++
        return route.fulfill({ status: 303, headers: { location: '/sign-in' } })
      })
      const seek = () => page.evaluate(() => document.querySelector('#older')!.scrollIntoView())
      await openLive(page, path)
      await until(() => asked === 1) // by itself
      await seek()
      await Bun.sleep(2_000)
      expect(asked).toBe(1)
      await until(() => asked === 2)
      broken = false
      await until(async () => (await sequences(page)).length === 200)
      await until(async () => (await seek(), refused > 0))
      await Bun.sleep(7_000)
      expect(refused).toBe(1)
      expect((await sequences(page)).length).toBe(200)
      refuses = false
      await page.evaluate(() => dispatchEvent(new Event('reconnect')))
      await until(async () => (await seek(), (await sequences(page)).length === 350))
    }),
)

test('a permalink to a row that is not on the page leads to it', () =>
  using({}, async (page) => {
    const { path } = await longRoom()
    await page.route('**/rows?*', (route) => route.abort()) // nothing comes by itself
    await page.goto(`${path}#m12`)
    await page.locator('#m12').waitFor(LATER)
    expect(new URL(page.url()).searchParams.get('around')).toBe('12')
    expect(await page.locator('#m12').isVisible()).toBe(true)
  }))

test('a link in the feed to a row that is not on the page asks whoever has typed something, and Back leads to where it was', () =>
  using({}, async (page) => {
    const { path } = await room(120)
    await page.route('**/rows?*', (route) => route.abort()) // nothing comes by itself
    await asRobin(page)
    let goes = false
    const asked: string[] = []
    page.on('dialog', (dialog) => (asked.push(dialog.message()), goes ? dialog.accept() : dialog.dismiss()))
    await openLive(page, path)
    await page.locator('#message').fill('half a thought')
    await page.evaluate("location.hash = 'm12'")
    await until(() => asked.length > 0)
    expect(asked).toEqual([expect.stringContaining('That row is on another page')])
    await until(() => page.url().endsWith(path))
    expect(await page.locator('#message').inputValue()).toBe('half a thought')
    goes = true
    await page.evaluate("location.hash = 'm12'") // the same link asks again
    await page.waitForURL('**?around=12#m12')
    await page.goBack()
    await page.locator('#m121').waitFor(SOON)
    expect(page.url()).toEndWith(path)
  }))

test.skipIf(!FULL)('who comes back, or loads the page again, is where they were', () =>
  using({}, async (page, complaints) => {
    const { path, say } = await room(349)
    const place = () =>
      page.evaluate(() => {
        const { top } = document.querySelector('#scroller')!.getBoundingClientRect()
        return [...document.querySelectorAll('#rows > .row')].find((row) => row.getBoundingClientRect().bottom > top + 1)!.id
      })
    const lookAt = async (row: string) => {
      await page.evaluate((id) => document.getElementById(id)!.scrollIntoView(), row)
      await page.waitForFunction((id) => history.state?.row === Number(id.slice(1)), row)
      expect(await place()).toBe(row)
    }
    await openLive(page, path)
    await lookAt('m320')
    await page.goto('/settings')
    await say('meanwhile')
    await page.goBack()
    await page.waitForFunction(() => document.querySelector('#scroller')!.scrollTop < -80)
    expect(await place()).toBe('m320')
    await page.reload()
    await page.waitForFunction(() => document.querySelector('#scroller')!.scrollTop < -80)
    expect(await place()).toBe('m320')
    await until(async () => (await sequences(page)).length === 351)
    await lookAt('m90') // of those that came later
    await page.reload()
    await page.waitForURL('**?around=90#m90')
    await page.waitForFunction(() => document.querySelector('#scroller')!.scrollTop < -80)
    expect(await place()).toBe('m90')
    await page.goto(path)
    await until(async () => (await sequences(page)).length === 351)
    expect(await page.evaluate(() => document.querySelector('#scroller')!.scrollTop)).toBe(0) // a new visit begins at the end
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('who loads the page again further up keeps what stands beside the feed, and the question that they answer', () =>
  using({}, async (page, complaints) => {
    const { path, alex, say, post } = await room(250)
    await asRobin(page, path)
    await page.locator('#message').fill('I am here.')
    await page.getByRole('button', { name: 'Send' }).click()
    await row(page, 'I am here.')
    const question = { content: { text: 'Shall we ship it?' }, to: ['Robin'], expects_reply: true }
    const { cursor } = await post(`${path}/messages`, question, alex.team_id)
    await say('meanwhile')
    const last = Number(cursor) + 1
    for (const [at, sign] of [
      [`${path}/board`, '[data-panel=board]'],
      [`${path}/records?type=decision`, '[data-panel=records]'],
      [`${path}?answer=${cursor}`, '#composer [name=reply_to]'],
    ] as const) {
      await openLive(page, at)
      await until(async () => (await sequences(page)).length === last)
      await page.evaluate(() => document.getElementById('m90')!.scrollIntoView())
      await page.waitForFunction(() => history.state?.row === 90)
      await page.reload()
      await page.waitForURL('**around=90#m90')
      const { pathname, searchParams } = new URL(page.url())
      searchParams.delete('around')
      expect(pathname + (searchParams.size > 0 ? `?${searchParams}` : '')).toBe(at)
      expect(await page.locator(sign).count()).toBe(1)
      expect(await page.locator('#m90').isVisible()).toBe(true)
    }
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('on paper there is all of the feed and all of the document, dark on white', () =>
  using({}, async (page) => {
    const { path, post, bea } = await room(60)
    await post(`${path}/doc/append`, { text: `# Plan\n\n${'- line\n'.repeat(80)}\nThe very end.` }, bea.team_id)
    await page.goto(path)
    const ink = () => page.evaluate(() => Number(/oklch\(([\d.]+)/.exec(getComputedStyle(document.body).color)![1]))
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await ink()).toBeGreaterThan(0.9)
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' })
    expect(await ink()).toBeLessThan(0.3)
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 794, height: 1123 },
    ]) {
      await page.setViewportSize(viewport)
      const { cut, ends } = await page.evaluate(() => {
        const heights = [...document.querySelectorAll('body, main, main :not(.row *, summary, .prose *, .sr-only)')].filter((one) =>
          one.checkVisibility(),
        )
        return {
          cut: heights
            .filter((one) => getComputedStyle(one).overflowY !== 'visible' && one.scrollHeight > one.clientHeight + 1)
            .map(({ id, className }) => id || className),
          ends: ['#m61', '#doc article > :last-child'].map((one) => document.querySelector(one)!.getBoundingClientRect()),
        }
      })
      expect(cut).toEqual([])
      expect(ends[0]!.height).toBeGreaterThan(10)
      expect(ends[1]!.top).toBeGreaterThan(ends[0]!.bottom) // one after the other, none over the other
      expect(await page.locator('#composer, header, #jump').filter({ visible: true }).count()).toBe(0)
    }
    const pdf = (await page.pdf()).toString('latin1')
    expect(Number(/\/Count (\d+)/.exec(pdf)![1])).toBeGreaterThan(3)
  }),
)

test('without script the whole feed is a link away, and so is what came next', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    const { path } = await longRoom()
    await page.goto(path)
    expect(await page.locator('#rows > .row').count()).toBe(100)
    await page.getByRole('link', { name: 'Show the whole feed' }).click()
    await page.waitForURL('**?all=1') // to its end
    expect(await page.locator('#rows > .row').count()).toBe(350)
    expect(await page.locator('#rows > .row').last().getAttribute('id')).toBe('m350')
    await page.goto(`${path}?around=120`)
    expect(await page.locator('#rows > .row').first().getAttribute('id')).toBe('m70')
    await page.getByRole('link', { name: 'Show what came next' }).click()
    await page.waitForURL('**#m171')
    expect(await page.locator('#m171').count()).toBe(1)
  }))

test.skipIf(!FULL)(
  'two thousand rows are kept: older ones go while one follows, come to those who scroll, not to a filter, and none get lost on the way',
  () =>
    using({}, async (page) => {
      const { path, bea, say, post } = await room(2_350)
      let asked = 0
      page.on('request', (request) => void (request.url().includes('/rows?') && asked++))
      await openLive(page, path)
      await until(async () => (await sequences(page)).length === 2_000, 60_000)
      const before = asked
      const choose = (filter: string) => page.locator('#feed fieldset label', { hasText: filter }).click()
      await choose('Events')
      const { top, bottom } = (await page.locator('#scroller').evaluate((scroller) => scroller.getBoundingClientRect().toJSON())) as DOMRect
      const older = (await page.locator('#older').boundingBox())!
      expect(older.y).toBeGreaterThanOrEqual(top)
      expect(older.y + older.height).toBeLessThanOrEqual(bottom)
      await Bun.sleep(1_500) // all would be there by then
      expect(asked).toBe(before)
      expect((await sequences(page)).length).toBe(2_000)

      await choose('All')
      const held = Promise.withResolvers<void>()
      await page.route('**/rows?*', async (route) => {
        await held.promise
        await route.continue()
      })
      const asking = page.waitForRequest('**/rows?*')
      await page.evaluate(() => document.querySelector('#older')!.scrollIntoView())
      await asking
      await page.evaluate(() => void (document.querySelector('#scroller')!.scrollTop = 0))
      await Promise.all(Array.from({ length: 120 }, (_, n) => say(`more ${n}`)))
      await until(async () => (await sequences(page)).at(-1) === 2_471)
      held.resolve()
      await until(async () => (await sequences(page))[0] === 252)
      expect(await sequences(page)).toEqual(upTo(2_471).slice(251))
      await say('and one')
      await until(async () => (await sequences(page)).length < 2_100)
      expect(await sequences(page)).toEqual(upTo(2_472).slice(-(await sequences(page)).length))

      for (let n = 1; n <= 60; n++) await post(`${path}/metadata`, { title: `Shipping ${n}`, reason: 'It grew.' }, bea.team_id)
      await until(async () => (await sequences(page)).at(-1) === 2_532)
      await choose('Events')
      for (const by of [-10_000, 20]) {
        const before = asked
        await page.evaluate((by) => document.querySelector('#scroller')!.scrollBy(0, by), by)
        await until(() => asked > before)
        await Bun.sleep(1_000)
        expect(asked).toBeLessThan(before + 3) // of five that there are
      }

      await choose('All')
      await until(async () => {
        await page.evaluate(() => document.querySelector('#older')!.scrollIntoView())
        return (await sequences(page)).length === 2_532
      })
      expect(await sequences(page)).toEqual(upTo(2_532))
    }),
  120_000,
)

test('keys go from message to message, to the end and to the search; a message is copied', () =>
  using({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    const { path } = await room(60)
    await openLive(page, path)
    await page.keyboard.press('k')
    await page.keyboard.press('k')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('m60')
    await page.keyboard.press('j')
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('m61')
    expect(await page.locator('#rows a[href^="#m"]:not([tabindex="-1"])').count()).toBe(1)
    await page.keyboard.press('Tab')
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toMatch(/^Message 61, \d\d:\d\d$/)
    await page.keyboard.press('?')
    await page.keyboard.press('?') // while the script that the first one asks for is on its way
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'detached', ...SOON })
    await page.keyboard.press('d')
    expect(await page.evaluate(() => document.activeElement?.ariaLabel)).toBe('The shared document')
    await page.locator('#copy-message').press('Enter')
    await page.locator('#copy-message.copied').waitFor(SOON)
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await page.locator('#m61 .prose').innerText())
    await page.evaluate(() => void (document.querySelector('#scroller')!.scrollTop = -900))
    await page.locator('#jump').waitFor({ state: 'visible', ...SOON })
    await page.keyboard.press('g')
    await page.locator('#jump').waitFor({ state: 'hidden', ...SOON })
    await page.keyboard.press('/')
    await page.keyboard.type('message 7')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/search?q=message+7')
  }))

test('at 390 px nothing scrolls sideways, also after what came live', () =>
  using(MOBILE, async (page, complaints) => {
    const { path, say, post, bea } = await room(5)
    await openLive(page, path)
    await say(`${'word'.repeat(300)}\n\n|a|b|\n|-|-|\n|${'x'.repeat(200)}|2|\n\n\`\`\`\n${'code '.repeat(100)}\n\`\`\``)
    await post(`${path}/metadata`, { title: 'W'.repeat(200), reason: 'w'.repeat(300) }, bea.team_id)
    await page.locator('#m8').waitFor({ state: 'attached', ...SOON })
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    expect(complaints).toEqual([])
  }))

const PARAGRAPH = 'The relay stays as a **shadow** for seven days: it records with `processed_events`, and delivers nothing. '

test('a page with 100 messages takes at most 60 KiB, all in, and nothing in it jumps', () =>
  using({ viewport: { width: 1280, height: 800 } }, async (page, _, context) => {
    const { path, alex, bea, say, post } = await room()
    for (let n = 0; n < 100; n++) await say(`${n}. ${PARAGRAPH.repeat(1 + (n % 3))}`, n % 2 ? alex : bea)
    await post(`${path}/doc/append`, { text: `# Plan\n\n${PARAGRAPH.repeat(10)}` }, bea.team_id)
    const network = await context.newCDPSession(page)
    await network.send('Network.enable')
    await network.send('Emulation.setCPUThrottlingRate', { rate: 4 }) // slow enough to be seen half parsed
    let bytes = 0
    network.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
    await observeShifts(page)
    // Both wait while the page loads: on a slow machine one of them would be away by then, and the roster would say so.
    for (const { team_id } of [alex, bea])
      void fetch(`${parley.url}/api${path}/wait?only=addressed&timeout=30`, { headers: { 'x-team-id': team_id! } }).catch(() => {})
    await openLive(page, path)
    await Bun.sleep(2_000)
    console.log(`the page with 100 messages: ${(bytes / 1024).toFixed(1)} KiB`)
    expect(bytes).toBeGreaterThan(30_000)
    expect(bytes).toBeLessThanOrEqual(60 * 1024)
    expect(await leastShift(page)).toBeLessThan(0.001) // the age of the document grows wider: 0.00001
  }))
