import { describe, expect, test } from 'bun:test'
import type { Page, Route } from 'playwright'
import { FULL, shortOf } from '../support/full.ts'
import { KEY, MOBILE, withSite } from '../support/site.ts'

const { parley, using, robin, asRobin } = withSite()

/** A session that Alex's Team convenes, and Robin's page of it, signed in. */
const meeting = async (more: Record<string, unknown> = {}) => {
  const alex = await parley.post('/sessions', {
    title: 'Shipping the parser',
    description: 'Decide what goes out.',
    creator_team_name: "Alex's Team",
    ...more,
  })
  const id = alex.session_id!
  const token = alex.team_id!
  const get = async (path: string) => {
    const response = await fetch(`${parley.url}/api/sessions/${id}${path}`, { headers: { 'x-team-id': token } })
    return (await response.json()) as any
  }
  const feed = async () => (await get('/messages')).messages as any[]
  return { id, token, at: `/sessions/${id}`, get, feed, said: async () => (await feed()).filter(({ type }) => type === 'chat') }
}

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
/** The browser does not say when its network is off: a request that was sent at once could still get through. */
const goOffline = async (page: Page) => {
  await page.context().setOffline(true)
  await page.waitForFunction(`fetch('/healthz').then(() => false, () => true)`)
}
const goOnline = async (page: Page) => {
  await page.context().setOffline(false)
  await page.waitForFunction(`fetch('/healthz').then(() => true, () => false)`)
}
const message = (page: Page) => page.getByRole('textbox', { name: 'Message to all teams' })

describe('the composer', () => {
  test('posts as the person, empties itself and leaves the page as it is', () =>
    using({}, async (page, complaints) => {
      const { at, said } = await meeting()
      await asRobin(page, at)
      await page.evaluate('window.untouched = true')
      await message(page).fill('How far are you?\nAnd what is **next**?')
      await page.locator('#listening').click() // away from the composer, and back by its key
      await page.keyboard.press('c')
      expect(await message(page).inputValue()).toBe('How far are you?\nAnd what is **next**?')
      await page.keyboard.press('Control+Enter')
      await page.locator('#rows strong', { hasText: 'next' }).waitFor()
      expect(await said()).toMatchObject([
        { author: 'person', team: 'Robin', posted_by_team_id: null, content: { text: 'How far are you?\nAnd what is **next**?' } },
      ])
      await page.waitForFunction(`document.querySelector('#message').value === ''`)
      expect(await page.evaluate('window.untouched')).toBe(true)
      expect(await page.evaluate('document.activeElement.id')).toBe('message')
      await page.keyboard.type('One more')
      await page.keyboard.press('Meta+Enter')
      await page.locator('#rows .row-message', { hasText: 'One more' }).waitFor()
      expect(complaints).toEqual([])
    }))

  test('works without script, and comes back to the message', () =>
    using({ javaScriptEnabled: false }, async (page) => {
      const { at, said } = await meeting()
      await asRobin(page, at)
      await message(page).fill('Without script')
      await page.getByRole('button', { name: 'Send' }).click()
      expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe(`${at}#m1`)
      expect(await said()).toHaveLength(1)
    }))

  test('sent twice, it posts once', async () => {
    const { at, said } = await meeting()
    const key = crypto.randomUUID()
    const cookie = await robin()
    const sent = await Promise.all([1, 2, 3].map(() => form(`${at}/messages`, { text: 'once', key }, { cookie })))
    expect(sent.map(({ status }) => status)).toEqual([303, 303, 303])
    expect(await said()).toHaveLength(1)
    const other = await form(`${at}/messages`, { text: 'other', key }, { cookie })
    expect(other.status).toBe(409)
    const page = await other.text()
    expect(page).toContain('other</textarea>')
    expect(page).not.toContain(`value="${key}"`)
  })

  test('shows why a message was not taken beside it, and keeps the text', () =>
    using({}, async (page, complaints, context) => {
      const { at, said, token, id } = await meeting()
      await asRobin(page, at)
      // The script that keeps what is typed on comes while the message is under way.
      const sent = Promise.withResolvers<void>()
      await page.route('**/public/typed.js', async (route) => (await sent.promise, route.continue()))
      const send = async (route: Route) => {
        const script = await page.evaluateHandle(() => ({
          loaded: new Promise((done) => document.querySelector('[src="/public/typed.js"]')!.addEventListener('load', () => done(0))),
        }))
        sent.resolve()
        await script.evaluate(({ loaded }) => loaded)
        await route.continue()
      }
      await page.route(`**${at}/messages`, send, { times: 1 })
      await message(page).fill(`Use ${token}`)
      await message(page).press('Control+Enter')
      const problem = page.locator('#composer [role=alert]:visible')
      await problem.waitFor()
      expect(await problem.textContent()).toContain('token or key')
      expect(await message(page).inputValue()).toBe(`Use ${token}`)
      await context.clearCookies()
      await message(page).fill('Am I still here?')
      await message(page).press('Control+Enter')
      await page.locator('#composer a', { hasText: 'Sign in in another tab' }).waitFor()
      expect(await message(page).inputValue()).toBe('Am I still here?')
      const other = await context.newPage()
      await asRobin(other, '/')
      await message(page).press('Control+Enter')
      await page.locator('#rows .row-message', { hasText: 'Am I still here?' }).waitFor()
      expect(await said()).toHaveLength(1)
      await parley.post(`/sessions/${id}/conclude`, { summary_section: 'End' }, token)
      await page.locator('#composer').waitFor({ state: 'hidden' })
      expect(complaints.filter((text) => !/status of 40[01]/.test(text))).toEqual([])
    }))

  test.skipIf(!FULL)('keeps what is typed while a message is under way, and sends nothing meanwhile', () =>
    using({}, async (page) => {
      const { at, said, token } = await meeting()
      await asRobin(page, at)
      let answer = () => {}
      let asked = 0
      await page.route(`**${at}/messages`, async (route) => {
        asked++
        await new Promise<void>((resolve) => (answer = resolve))
        await route.continue()
      })
      /** Sends a text, and types on before the answer comes. */
      const sendAnd = async (text: string, more: string, key = 'End') => {
        await message(page).fill(text)
        await message(page).press('Control+Enter')
        await page.locator('#composer button:disabled').waitFor()
        await page.keyboard.press(key)
        await page.keyboard.type(more)
        await page.keyboard.press('Control+Enter')
        answer()
      }
      await sendAnd('How far are you?', ' And what is next?')
      await page.locator('#composer button:enabled').waitFor()
      expect(await message(page).inputValue()).toBe('And what is next?')
      expect(await page.evaluate('document.activeElement.id')).toBe('message')
      expect(await said()).toMatchObject([{ content: { text: 'How far are you?' } }])
      await sendAnd('Who takes the lexer?', 'First of all: ', 'Home')
      await page.locator('#composer button:enabled').waitFor()
      expect(await message(page).inputValue()).toBe('First of all:')
      await sendAnd(`Use ${token}`, ' now')
      await page.locator('#composer [role=alert]:visible').waitFor()
      expect(await message(page).inputValue()).toBe(`Use ${token} now`)
      expect(asked).toBe(3)
    }),
  )

  test.skipIf(!FULL)('keeps the text when the server is out of reach', () =>
    using({}, async (page) => {
      const { at, said } = await meeting()
      await asRobin(page, at)
      await message(page).fill('On a train')
      await goOffline(page)
      await message(page).press('Control+Enter')
      await page.getByText('Not sent: the server').waitFor()
      expect(await message(page).inputValue()).toBe('On a train')
      await goOnline(page)
      await message(page).press('Control+Enter')
      await page.locator('#rows .row-message', { hasText: 'On a train' }).waitFor()
      expect(await said()).toHaveLength(1)
    }),
  )

  test('is a quiet way to sign in for a stranger, and not there once the session is concluded', () =>
    using({}, async (page) => {
      const { at, id, token } = await meeting()
      await page.goto(at)
      expect(await message(page).count()).toBe(0)
      expect(await page.getByRole('link', { name: 'Sign in', exact: true }).last().getAttribute('href')).toBe(`/sign-in?next=${at}`)
      await parley.post(`/sessions/${id}/conclude`, { summary_section: 'End' }, token)
      await asRobin(page, at)
      expect(await message(page).isVisible()).toBe(false)
    }))
})

describe('with the keyboard alone', () => {
  const press = async (page: Page, ...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const focusOn = (page: Page, role: 'link' | 'button', name: string) => page.getByRole(role, { name, exact: true }).focus()

  test('a session is concluded in its dialog, revised and reopened', () =>
    using({}, async (page, complaints) => {
      const { at, get, feed } = await meeting()
      await asRobin(page, at)
      await focusOn(page, 'link', 'Conclude')
      await press(page, 'Enter')
      const dialog = page.getByRole('dialog', { name: 'Conclude the session' })
      await dialog.waitFor()
      expect(await page.evaluate('document.activeElement.name')).toBe('summary_section')
      await press(page, 'Escape')
      await dialog.waitFor({ state: 'hidden' })
      expect(await page.evaluate('document.activeElement.textContent')).toContain('Conclude')
      await press(page, 'Enter')
      await dialog.waitFor()
      await page.keyboard.type('The **parser** ships.')
      await dialog.locator('#preview strong', { hasText: 'parser' }).waitFor()
      await press(page, 'Control+Enter')
      await page.getByText('Concluded', { exact: true }).first().waitFor()
      await dialog.waitFor({ state: 'hidden' }) // the stream may be faster than the answer
      expect(new URL(page.url()).pathname).toBe(at)
      expect((await get('/doc')).content).toContain('## Conclusion\n\nThe **parser** ships.')
      await focusOn(page, 'button', 'More actions')
      await press(page, 'Enter', 'Tab')
      while (!(await page.evaluate<string>('document.activeElement.textContent')).includes('Reopen')) await press(page, 'Tab')
      await press(page, 'Enter')
      await page.getByRole('dialog', { name: 'Reopen the session' }).waitFor()
      await page.keyboard.type('A bug came back.')
      await press(page, 'Tab', 'Enter')
      await message(page).waitFor()
      expect((await get('')).status).toBe('active')
      expect((await feed()).at(-1)).toMatchObject({ event: 'session_reopened', by: 'Robin', reason: 'A bug came back.' })
      expect(complaints).toEqual([])
    }))

  test('a session is opened by a person, whose text brings an agent in, and given a convener', () =>
    using({}, async (page, complaints) => {
      await page.goto('/')
      await focusOn(page, 'link', 'New session')
      await press(page, 'Enter')
      await page.getByRole('heading', { name: 'Sign in' }).waitFor()
      await page.getByLabel('Key').focus()
      await page.keyboard.type(KEY)
      await press(page, 'Tab')
      await page.keyboard.type('Robin')
      await press(page, 'Enter')
      await page.locator('#title:focus').waitFor()
      await page.keyboard.type('Ship <the> parser')
      await press(page, 'Tab')
      await page.keyboard.type('By tonight.')
      await press(page, 'Tab', 'Enter')
      await page.getByText('Ask agents to join “Ship <the> parser”').waitFor()
      const text = (await page.getByRole('region', { name: 'Join' }).locator('pre').textContent())!
      const id = new URL(page.url()).searchParams.get('session')!
      expect(text).toContain(id)
      expect(text).toContain(`${parley.url}/AGENTS.md`)
      await page.goto(`/sessions/${id}`)
      const bea = await parley.post(`/sessions/${id}/join`, { team_name: "Bea's Team" })
      await page.getByText("Bea's Team is to conclude").waitFor() // while the page is open
      await page.getByRole('link', { name: 'Waiting for 1 more team' }).click()
      expect(page.url()).toEndWith(`/connect?session=${id}`)
      await parley.post(`/sessions/${id}/join`, { team_name: 'Cleo' })
      const read = await fetch(`${parley.url}/api/sessions/${id}`, { headers: { 'x-team-id': bea.team_id! } })
      expect(await read.json()).toMatchObject({ title: 'Ship <the> parser', description: 'By tonight.', expected_teams: 2 })
      const now = () => page.locator('label', { hasText: 'convener now' }).innerText()
      await page.goto(`/sessions/${id}/convener`)
      expect(await now()).toContain("Bea's Team")
      await page.getByRole('radio', { name: 'Cleo' }).focus()
      await press(page, 'Space', 'Tab', 'Enter')
      await page.getByText('Cleo is to conclude').waitFor()
      await page.goto(`/sessions/${id}/convener`)
      expect(await now()).toContain('Cleo')
      expect(complaints).toEqual([])
    }))
})

for (const script of shortOf([true, false], 1)) {
  test(`${script ? 'with' : 'without'} script a session is renamed, concluded after a look, resumed and reopened`, () =>
    using({ javaScriptEnabled: script }, async (page) => {
      const { at, id, get, feed } = await meeting()
      await asRobin(page, `${at}/edit`)
      await page.getByRole('textbox', { name: 'Title' }).fill('Shipping it all')
      await page.getByRole('textbox', { name: 'Reason' }).fill('The printer is part of it.')
      await page.getByRole('button', { name: 'Change', exact: true }).click()
      expect(await page.locator('h1').textContent()).toBe('Shipping it all')
      expect((await feed()).at(-1)).toMatchObject({ event: 'session_metadata_updated', by: 'Robin', reason: 'The printer is part of it.' })

      await page.goto(`${at}/conclude`)
      await page.getByLabel('Conclusion', { exact: true }).fill('It *ships*.')
      await page.getByRole('button', { name: 'Refresh preview' }).click()
      await page.locator('#preview em', { hasText: 'ships' }).waitFor()
      expect(await page.getByLabel('Conclusion', { exact: true }).inputValue()).toBe('It *ships*.')
      await page.getByRole('button', { name: 'Conclude', exact: true }).click()
      expect(await get('')).toMatchObject({ status: 'closed' })
      await page.goto(at)
      expect(await page.getByRole('link', { name: 'Connect agent' }).count()).toBe(0)
      await page.goto(`/connect?session=${id}`)
      expect(await page.getByRole('region', { name: 'Join' }).count()).toBe(0)
      const curl = await page.getByRole('region', { name: 'Without MCP' }).textContent()
      expect([curl!.includes('/api/sessions/$SID/messages'), curl!.includes(id)]).toEqual([true, false]) // of the session that the first line opens
      await page.getByRole('link', { name: 'Resume', exact: true }).click()
      expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Shipping it all')
      await page.getByRole('button', { name: 'Open the session' }).click()
      const next = new URL(page.url()).searchParams.get('session')!
      expect(next).not.toBe(id)
      await page.goto(`/sessions/${next}`)
      expect(await page.locator('#document').textContent()).toContain('It ships.')
      await page.goto('/')
      expect(await page.locator(`#s-${next}`, { hasText: 'resumed from Shipping it all' }).count()).toBe(1)

      await page.goto(`${at}/reopen`)
      await page.getByRole('textbox', { name: 'Reason' }).fill('Not yet.')
      await page.getByRole('button', { name: 'Reopen', exact: true }).click()
      expect(await get('')).toMatchObject({ status: 'active' })
    }))
}

test('a meeting is archived and brought back, each in its dialog', () =>
  using({}, async (page, complaints) => {
    const { at, feed } = await meeting()
    await asRobin(page, at)
    const act = async (item: string, button: string) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('link', { name: item }).click()
      await page.getByRole('button', { name: button, exact: true }).click()
    }
    await act('Archive…', 'Archive')
    await page.locator('#session-head', { hasText: 'Archived' }).waitFor()
    await page.goto(`${parley.url}${at}/share`)
    await page.getByText('The session is archived. Bring it back to invite agents.').waitFor()
    await page.goto(`${parley.url}${at}`)
    await act('Bring the session back…', 'Bring it back')
    await page.locator('#session-head', { hasText: 'Live' }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    expect(await page.getByRole('link', { name: 'Bring the session back…' }).isVisible()).toBe(false)
    expect((await feed()).map(({ event }) => event)).toEqual(['session_archived', 'session_restored'])
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('what was typed into a dialog is there again when it is opened again, until one sends it or starts over', () =>
  using({}, async (page, complaints) => {
    const { id, at } = await meeting()
    await parley.post(`/sessions/${id}/join`, { team_name: "Bea's Team" })
    await asRobin(page, at)
    const dialog = page.getByRole('dialog')
    const text = dialog.getByLabel('Conclusion', { exact: true })
    for (const close of ['Escape', 'Cancel']) {
      await page.getByRole('link', { name: 'Conclude' }).click()
      await text.fill(`It **ships**: ${close}`)
      await (close === 'Escape' ? page.keyboard.press(close) : dialog.getByRole('button', { name: close }).click())
      await dialog.waitFor({ state: 'hidden' })
      await page.getByRole('link', { name: 'Conclude' }).click()
      await dialog.getByText('This is what you typed before.').waitFor()
      expect(await text.inputValue()).toBe(`It **ships**: ${close}`)
      await dialog.locator('#preview strong', { hasText: 'ships' }).waitFor()
      await dialog.getByRole('button', { name: 'Start over' }).click()
      expect(await text.inputValue()).toBe('')
      await dialog.locator('#preview em', { hasText: 'Nothing yet' }).waitFor()
      await page.keyboard.press('Escape')
    }
    await page.getByRole('link', { name: 'Conclude' }).click()
    await text.fill('At last.')
    await page.keyboard.press('Escape')
    const rename = async () => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('link', { name: 'Change title or description' }).click()
      await dialog.waitFor()
    }
    const convener = async () => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('link', { name: 'Name the convener' }).click()
      await dialog.waitFor()
    }
    for (const team of ["Bea's Team", "Alex's Team", "Bea's Team"]) {
      await convener()
      await dialog.getByRole('radio', { name: team }).check()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'hidden' })
      await convener()
      expect(await dialog.getByRole('radio', { name: team }).isChecked()).toBe(true)
      await page.keyboard.press('Escape')
    }
    const reason = dialog.getByRole('textbox', { name: 'Reason' })
    await rename()
    await dialog.getByRole('textbox', { name: 'Title' }).fill('Shipping it all')
    await reason.fill('The printer too.')
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.waitFor({ state: 'hidden' })
    await rename()
    expect(await reason.inputValue()).toBe('')
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Conclude' }).click()
    await dialog.getByText('This is what you typed before.').waitFor()
    expect(await text.inputValue()).toBe('At last.')
    await dialog.getByRole('button', { name: 'Start over' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('link', { name: 'Conclude' }).click()
    await text.waitFor()
    expect(await dialog.getByText('This is what you typed before.').isVisible()).toBe(false)
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('a double click on a slow line opens a dialog once, and what was typed before stays in it', () =>
  using({}, async (page, complaints) => {
    const { at } = await meeting()
    await asRobin(page, at)
    const link = page.getByRole('link', { name: 'Conclude' })
    const dialog = page.getByRole('dialog')
    const text = dialog.getByLabel('Conclusion', { exact: true })
    await link.click()
    await text.fill('At last.')
    await page.keyboard.press('Escape')
    let asked = 0
    await page.route(`**${at}/conclude`, async (route) => {
      asked++
      await Bun.sleep(500)
      await route.continue()
    })
    const clicked = page.evaluate(
      () => new Promise((done) => window.addEventListener('click', ({ detail }) => detail === 2 && done('twice'), { capture: true })),
    )
    await link.dblclick()
    expect(await clicked).toBe('twice')
    await dialog.getByText('This is what you typed before.').waitFor()
    await page.waitForTimeout(1_500) // a second answer would be here
    expect(asked).toBe(1)
    expect(await text.inputValue()).toBe('At last.')
    await page.keyboard.press('Escape')
    await link.click() // it is dropped only meanwhile
    await dialog.waitFor()
    expect(asked).toBe(2)
    expect(complaints).toEqual([])
  }),
)

test('what is refused in a dialog is said there, over the live session, and what is done closes it', () =>
  using({}, async (page, complaints) => {
    const { at, get, feed, token, id } = await meeting()
    await asRobin(page, at)
    await page.evaluate('window.untouched = true')
    const dialog = page.getByRole('dialog')
    const choose = async (item: string) => {
      await page.getByRole('button', { name: 'More actions' }).click()
      await page.getByRole('link', { name: item }).click()
      await dialog.waitFor()
    }
    await choose('Change title or description')
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('No reason')
    const key = await dialog.locator('[name=key]').inputValue()
    await dialog.getByRole('button', { name: 'Change', exact: true }).click()
    await dialog.getByText('Nothing would change').waitFor()
    expect(await dialog.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('No reason')
    expect(await dialog.locator('[name=key]').inputValue()).toBe(key)
    await dialog.getByRole('textbox', { name: 'Title' }).fill('Shipping it all')
    await dialog.getByRole('button', { name: 'Change', exact: true }).dblclick()
    await page.locator('h1', { hasText: 'Shipping it all' }).waitFor()
    await dialog.waitFor({ state: 'hidden' })
    expect((await feed()).filter(({ event }) => event === 'session_metadata_updated')).toHaveLength(1)
    await parley.post(`/sessions/${id}/conclude`, { summary_section: 'It ships.' }, token)
    await page.locator('#conclusion', { hasText: 'It ships.' }).waitFor()
    await choose('Revise the conclusion')
    await dialog.getByLabel('Conclusion', { exact: true }).fill('It ships **now**.')
    await dialog.getByRole('button', { name: 'Conclude', exact: true }).click()
    await page.locator('#conclusion strong', { hasText: 'now' }).waitFor()
    await choose('Reopen')
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('A bug.')
    await dialog.getByRole('button', { name: 'Reopen', exact: true }).click()
    await message(page).waitFor()
    expect((await get('')).status).toBe('active')
    expect(await page.evaluate('window.untouched')).toBe(true)
    expect(complaints.filter((text) => !/status of 4\d\d/.test(text))).toEqual([])
  }))

test.skipIf(!FULL)('while the server cannot be reached, an act says so and can be tried again', () =>
  using({}, async (page) => {
    const { at, get } = await meeting()
    await asRobin(page, at)
    const dialog = page.getByRole('dialog')
    await goOffline(page)
    await page.getByRole('link', { name: 'Conclude' }).click()
    await page.getByText('Parley cannot be reached. Try again.').waitFor()
    await goOnline(page)
    await page.getByRole('link', { name: 'Conclude' }).click()
    await page.route('**/conclude/preview', (route) => route.fulfill({ status: 502, body: '<p>A proxy' }), { times: 1 })
    const looked = page.waitForResponse('**/conclude/preview')
    await dialog.getByLabel('Conclusion', { exact: true }).fill('It ships.')
    await looked
    for (const answer of [502, undefined]) {
      const met = Promise.withResolvers<void>()
      await page.route('**/conclude', async (route) => {
        await (answer ? route.fulfill({ status: answer, body: '<p>A proxy' }) : route.abort())
        met.resolve()
      })
      await dialog.getByRole('button', { name: 'Conclude', exact: true }).click()
      await met.promise
      await dialog.getByText('Not sent: the server').waitFor()
      expect(await dialog.innerText()).not.toContain('A proxy')
      expect(await dialog.getByLabel('Conclusion', { exact: true }).inputValue()).toBe('It ships.')
      await page.unroute('**/conclude')
    }
    await dialog.getByRole('button', { name: 'Conclude', exact: true }).click()
    await page.locator('#conclusion', { hasText: 'It ships.' }).waitFor()
    expect((await get('')).status).toBe('closed')
  }),
)

test.skipIf(!FULL)('an act of somebody who was signed out meanwhile leads to the sign-in, not into the dialog', () =>
  using({}, async (page) => {
    const { at } = await meeting()
    await asRobin(page, at)
    await page.context().clearCookies()
    await page.getByRole('link', { name: 'Conclude' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(new URL(page.url()).searchParams.get('next')).toBe(`${at}/conclude`)
  }),
)

test.skipIf(!FULL)('a form that is refused comes back with what was typed, and says why beside the field', () =>
  using({}, async (page) => {
    const { at, token, id } = await meeting()
    await asRobin(page, `${at}/edit`)
    await page.getByRole('textbox', { name: 'Reason' }).fill('No reason')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    expect(await page.locator('#title-problem').textContent()).toStartWith('Nothing would change')
    expect(await page.getByRole('textbox', { name: 'Reason' }).inputValue()).toBe('No reason')
    await parley.post(`/sessions/${id}/conclude`, { summary_section: 'End' }, token)
    await page.getByRole('textbox', { name: 'Title' }).fill('Too late')
    await page.getByRole('button', { name: 'Change', exact: true }).click()
    expect(await page.getByRole('alert').textContent()).toContain('This session is concluded')
    expect(await page.getByRole('textbox', { name: 'Title' }).inputValue()).toBe('Too late')
  }),
)

test.skipIf(!FULL)('the history shows who wrote what, compares any two versions and brings one back, without script', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    const { at, id, token, get } = await meeting()
    const lines = Array.from({ length: 40 }, (_, i) => `line ${i}`)
    for (let version = 0; version < 30; version++) {
      lines[20] = `line 20 as of <${version + 1}>`
      await parley.post(`/sessions/${id}/doc`, { content: lines.join('\n'), expected_version: version }, token)
    }
    await asRobin(page, at)
    await page.getByRole('link', { name: 'History', exact: true }).click()
    expect(await page.getByRole('navigation', { name: 'Versions' }).getByRole('listitem').count()).toBe(25)
    expect(await page.getByRole('navigation', { name: 'Versions' }).getByRole('listitem').first().textContent()).toMatch(/^v30.*\+1.*−1/)
    expect(await page.locator('mark').allTextContents()).toEqual(['29', '30'])
    const tints = await page.locator('mark').evaluateAll((words) => words.map((word) => getComputedStyle(word).backgroundColor))
    expect(new Set(tints).size).toBe(2) // what went is red, what came is green
    await page.getByRole('link', { name: 'Older' }).click()
    expect(await page.getByRole('navigation', { name: 'Versions' }).getByRole('listitem').count()).toBe(5)
    await page.getByRole('link', { name: 'v1' }).click()
    expect(await page.locator('h2').textContent()).toBe('v0 → v1')
    await page.getByLabel('Compare v').fill('2')
    await page.getByLabel('with v').fill('9')
    await page.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('link', { name: 'Side by side' }).click()
    expect(await page.locator('h2').textContent()).toBe('v2 → v9')
    expect(await page.locator('tr', { hasText: 'as of' }).textContent()).toMatch(/21.*line 20 as of <2>21.*line 20 as of <9>/)
    await page.getByRole('button', { name: 'Restore v9' }).click()
    expect(await get('/doc')).toMatchObject({ version: 31, content: expect.stringContaining('as of <9>') })
    const { versions } = await get('/doc/history')
    expect(versions[0]).toMatchObject({ version: 31, team: 'Robin', written_by_team_id: null })
    const file = await page.request.get(`${at}/history/9.md`)
    expect(await file.text()).toContain('line 20 as of <9>\nline 21')
    expect(file.headers()['content-disposition']).toBe('attachment; filename="shipping-the-parser-v9.md"')
  }),
)

test.skipIf(!FULL)('the current link is checked when a person asks', () =>
  using({}, async (page, complaints) => {
    await asRobin(page, '/settings')
    await page.getByRole('button', { name: 'Check the link' }).click()
    expect(await page.getByRole('alert').textContent()).toMatch(/^Reachable: Parley answered in \d+ ms\.$/)
    await parley.services.changeSetting('mcp_url', 'http://127.0.0.1:1/mcp')
    await page.getByRole('button', { name: 'Check the link' }).click()
    expect(await page.getByRole('alert').textContent()).toContain('the connection was refused')
    await parley.services.changeSetting('mcp_url', undefined)
    await page.getByLabel('Mark it and slow the teams down').check()
    await page.locator('form', { hasText: 'round in circles' }).getByRole('button', { name: 'Save' }).click()
    expect(await page.locator('tr', { hasText: 'LOOP_GUARD' }).textContent()).toMatch(/slow.*saved$/)
    await page.locator('form', { hasText: 'round in circles' }).getByRole('button', { name: 'Forget what is set here' }).click()
    expect(await page.locator('tr', { hasText: 'LOOP_GUARD' }).textContent()).toMatch(/warn.*default$/)
    expect(complaints).toEqual([])
  }),
)

const LOOKS = [
  ['at 390 px', MOBILE],
  ['wide', {}],
  ['dark', { colorScheme: 'dark' }],
] as const

for (const [name, options] of LOOKS) {
  test.skipIf(!FULL)(`${name}: the pages of acts render, keep their policy and do not scroll sideways`, () =>
    using(options, async (page, complaints) => {
      const { at, id, token } = await meeting({ title: 'word'.repeat(50) })
      await parley.post(`/sessions/${id}/doc`, { content: `${'x'.repeat(3_000)}\n<script>`, expected_version: 0 }, token)
      await asRobin(page, '/')
      const acts = ['edit', 'conclude', 'reopen', 'resume', 'convener', 'history', 'history?view=split'].map((act) => `${at}/${act}`)
      for (const path of ['/', '/?status=idle', '/sessions/new', at, ...acts, `/connect?session=${id}`, '/settings']) {
        const response = await page.goto(path)
        expect(response!.status()).toBe(200)
        expect(response!.headers()['content-security-policy']).toStartWith("default-src 'none'; script-src 'self'; style-src 'self'")
        expect(await page.locator('h1:not(.prose h1)').count()).toBe(1)
        expect(await overflow(page), path).toBe(0)
      }
      expect(complaints).toEqual([])
    }),
  )
}

test.skipIf(!FULL)('on a phone everything one can do lies in one menu', () =>
  using(MOBILE, async (page) => {
    const { at } = await meeting()
    await asRobin(page, at)
    await page.getByRole('button', { name: 'More actions' }).click()
    const items = page.locator('#session-menu a:visible')
    expect((await items.allTextContents()).map((text) => text.replace(/…$/, ''))).toEqual([
      'Connect an agent',
      'Export as Markdown',
      'Export the feed as JSON Lines',
      'Turns',
      'The document’s history',
      'Be told when you are needed',
      'Share, or invite an agent',
      'Change title or description',
      'Name the convener',
      'Conclude',
      'Archive',
    ])
    await items.filter({ hasText: 'Conclude' }).click()
    await page.getByRole('dialog', { name: 'Conclude the session' }).waitFor()
    expect(await overflow(page)).toBe(0)
  }),
)

test.skipIf(!FULL)('between a phone and a wide window the way on stays beside the title, and the menu has the rest', () =>
  using({ viewport: { width: 768, height: 900 } }, async (page) => {
    const { at } = await meeting()
    await asRobin(page, at)
    const actions = page.locator('[aria-label=Session] [data-slot=button]:visible')
    expect(await actions.allInnerTexts()).toEqual(['Conclude', ''])
    await actions.last().click()
    const items = await page.locator('#session-menu a:visible').allTextContents()
    expect(items.slice(0, 2)).toEqual(['Connect an agent', 'Export as Markdown'])
    expect(items).not.toContain('Conclude…')
  }),
)

test.skipIf(!FULL)('with colours of the reader’s own, what is filled, chosen or done still differs from what is not', () =>
  using({ forcedColors: 'active' }, async (page) => {
    const { at, id, token } = await meeting()
    await parley.post(`/sessions/${id}/messages`, { content: '- [x] done\n- [ ] open' }, token)
    await asRobin(page, at)
    const colour = (selector: string) =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).backgroundColor)
    const pairs = [
      ['label:has(#show-all)', 'label:has(#show-events)'],
      ['.cb-on', '.cb:not(.cb-on)'],
      ['#session-head .dot', 'body'],
      ['#composer [data-slot=button]', 'body'],
    ] as const
    for (const [one, other] of pairs) expect(await colour(one), one).not.toBe(await colour(other))
  }),
)

test.skipIf(!FULL)('a long conclusion leads on to the document, which has all of it', () =>
  using(MOBILE, async (page) => {
    const { at, id, token } = await meeting()
    await parley.post(`/sessions/${id}/conclude`, { summary_section: 'It ships, for a reason.\n\n'.repeat(40) }, token)
    await asRobin(page, at)
    await page.getByRole('link', { name: 'Read all in the document' }).click()
    await page.locator('#doc-conclusion').waitFor()
    expect(await overflow(page)).toBe(0)
  }),
)

const form = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  fetch(`${parley.url}${path}`, { method: 'POST', redirect: 'manual', body: new URLSearchParams(fields), headers })
