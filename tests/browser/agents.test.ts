// A session's agent as people see it and steer it: in a real browser, with a runner that does what the test says.
import { expect, test } from 'bun:test'
import type { Page } from 'playwright'
import { violations } from '../support/axe.ts'
import { fillAgents, startAgents, tool, type Agents } from '../support/demo-agents.ts'
import { FULL, shortOf } from '../support/full.ts'
import { HOSTILE } from '../support/payloads.ts'
import { KEY, MOBILE, openLive, serveSite, withSite } from '../support/site.ts'

const SOON = { timeout: 30_000 }
const VIEWER_PASSWORD = 'a-password-for-readers'
const { parley, using, robin, asRobin } = withSite({ VIEWER_PASSWORD })

let started: Promise<Agents> | undefined
const agentsOf = () => (started ??= startAgents(parley, { parallel: 64 }))

const LATER = Array.from({ length: 9 }, (_, n) => `Later ${n}.`) // more than the tasks whose ends a page's state has
const until = async (holds: () => boolean | Promise<boolean>, ms = 30_000) => {
  for (const end = performance.now() + ms; performance.now() < end; await Bun.sleep(20)) if (await holds()) return
  throw new Error(`not within ${ms} ms`)
}

/** Opens the session's page as Robin, and waits until its stream is there. */
const follow = async (page: Page, session: string) => {
  await asRobin(page)
  await openLive(page, `/sessions/${session}`)
}

const hide = (page: Page, hidden: boolean) =>
  page.evaluate((is) => {
    Object.defineProperty(document, 'hidden', { value: is, configurable: true })
    document.dispatchEvent(new Event('visibilitychange'))
  }, hidden)

/** Robin's cookie at another server. */
const cookieOf = async ({ url }: { url: string }): Promise<string> => {
  const body = new URLSearchParams({ key: KEY, name: 'Robin' })
  const entered = await fetch(`${url}/sign-in`, { method: 'POST', redirect: 'manual', body })
  return entered.headers.getSetCookie()[0]!.split(';')[0]!
}

const taken = async (agents: Agents, session: string) => {
  const task = (await agents.take()).find(({ session_id }) => session_id === session)
  if (!task) throw new Error('the runner has nothing to do for this session')
  return task
}

test('a person prompts the agent, watches it work, and has its answer in the feed', () =>
  using({}, async (page, complaints) => {
    const agents = await agentsOf()
    const session = await agents.create()
    await follow(page, session)
    const line = page.locator('#agent')
    expect(await line.textContent()).toContain('Claude Code 2.1.330')
    expect(await line.textContent()).toContain('acme/parser · feature/spans · 3 files changed')
    expect(await line.textContent()).toContain('runner robins-laptop')
    expect(await page.locator('#listening').textContent()).toContain('a prompt sets Claude Code to work')
    await page.fill('#prompt', 'Mend the **empty** file.')
    await page.click('[aria-label="Send the prompt"]')
    await page.locator('.row-message', { hasText: 'Prompted by Robin' }).waitFor(SOON)
    await page.locator('.row-message', { hasText: 'Queued · next' }).waitFor(SOON)
    await page.waitForFunction(() => document.querySelector<HTMLTextAreaElement>('#prompt')!.value === '', undefined, SOON) // a new form

    const { task_id } = await taken(agents, session)
    await agents.tell(task_id, [
      { type: 'reasoning', content: { text: 'Where is it read?' } },
      ...tool('Bash', { command: 'npm test' }, '43 pass'),
    ])
    const fold = page.locator('#rows details[data-trace]')
    await fold.getByText(/Running \d+:\d\d · Bash: npm test · 3 events/).waitFor(SOON)
    await page.locator('#roster', { hasText: 'working' }).waitFor(SOON)

    await fold.locator('summary').first().click()
    await fold.getByText('Where is it read?').first().waitFor(SOON)
    await agents.tell(task_id, [
      ...tool('Edit', { file_path: 'src/tree.ts' }, 'Updated.'),
      { type: 'assistant_response', content: { text: 'It is mended.' } },
    ])
    await fold.locator('.trace-part', { hasText: 'src/tree.ts' }).waitFor(SOON) // while it is open, it goes on
    await fold.locator('.trace-part', { hasText: 'npm test' }).first().locator('summary').click()
    await agents.finish(task_id, {
      status: 'completed',
      answer: 'It is mended.',
      usage: { input_tokens: 1_500, output_tokens: 500, cost_usd: 0.02 },
    })
    await page.locator('.row-message', { hasText: 'answers Robin, #' }).waitFor(SOON)
    await fold.getByText(/^Done · .* · 2K tokens, \$0\.02$/).waitFor(SOON)
    expect(await fold.getAttribute('open')).not.toBe(null) // what the reader has unfolded stays so
    await page.locator('#agent', { hasText: 'used 2K tokens, $0.02' }).waitFor(SOON)
    // The agent's response is not shown twice, once the trace was read again.
    await until(async () => (await page.locator('#rows').getByText('It is mended.').count()) === 1)
    expect(await fold.locator('details.trace-part[open]').count()).toBe(1)
    expect(await page.locator('#roster li', { hasText: 'ready' }).textContent()).not.toMatch(/Idle|Asleep/)
    await page.reload()
    expect(await page.locator('#rows details[data-trace]').first().textContent()).toContain('Done')
    expect(complaints).toEqual([])
  }))

test('a task is interrupted with one tap, and none in its place; queued ones say their place; a failure says why', () =>
  using(MOBILE, async (page, complaints) => {
    const agents = await agentsOf()
    const session = await agents.create()
    for (const prompt of ['One.', 'Two.', 'Three.', ...LATER]) await agents.prompt(session, prompt)
    const { task_id } = await taken(agents, session)
    await follow(page, session)
    const rows = page.locator('.row-message')
    expect(await rows.nth(1).textContent()).toContain('Prompted by the key CI of the parser')
    expect(await rows.nth(2).textContent()).toContain('Queued · number 2 in line')
    const button = rows.nth(0).getByRole('button', { name: 'Interrupt' })
    expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44)
    await button.tap()
    await rows
      .nth(0)
      .getByText(/Stopping/)
      .waitFor(SOON)
    expect(await agents.orders([task_id])).toMatchObject([{ order: 'interrupt', task_id }])
    await agents.finish(task_id, { status: 'interrupted' })
    await rows
      .nth(0)
      .getByText(/^Interrupted/)
      .first()
      .waitFor(SOON)
    const second = await taken(agents, session)
    await rows
      .nth(1)
      .getByText(/^Running/)
      .first()
      .waitFor(SOON)
    const task = (await rows.nth(0).getAttribute('id'))!.slice(1)
    const late = await fetch(`${parley.url}/sessions/${session}/interrupt`, {
      method: 'POST',
      headers: { cookie: await robin(), accept: 'text/html', 'hx-request': 'true' },
      body: new URLSearchParams({ task }),
    })
    expect([late.status, await late.text()]).toEqual([409, 'This task does not run any more, so nothing was interrupted.'])
    expect(await agents.orders([second.task_id])).toEqual([])
    await agents.finish(second.task_id, { status: 'failed', error: { code: 'runner_lost', message: 'It was gone for a minute.' } })
    await rows
      .nth(1)
      .getByText(/^The runner went away/)
      .first()
      .waitFor(SOON)
    expect(await rows.nth(1).textContent()).toContain('It was gone for a minute.')
    const third = await taken(agents, session)
    await agents.tell(third.task_id, [
      {
        key: 'asks',
        type: 'tool_call',
        tool_name: 'AskUserQuestion',
        content: { arguments: { questions: [{ question: 'Since when?' }] } },
      },
    ])
    await agents.finish(third.task_id, { status: 'interrupted', interrupted_by: 'asks' })
    await rows.nth(2).getByText('Since when?').first().waitFor(SOON)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBe(0)
    await hide(page, true)
    await until(() => parley.services.streams.open === 0)
    await agents.manage(session, 'delete') // with which all that is queued ends
    await hide(page, false)
    for (const prompt of LATER)
      await rows
        .filter({ hasText: prompt })
        .getByText(/^Interrupted/)
        .first()
        .waitFor(SOON)
    expect(complaints).toEqual([])
  }))

test.each(
  shortOf(
    [
      ['Allow once', true],
      ['Deny', false],
    ] as const,
    1,
  ),
)('what the agent asks permission for is answered on its card: %s', (label, allow) =>
  using(MOBILE, async (page, complaints) => {
    const agents = await agentsOf()
    const session = await agents.create()
    await agents.prompt(session, 'Drop the old fixtures.')
    const { task_id } = await taken(agents, session)
    await follow(page, session)
    const answer = agents.ask(
      task_id,
      `req-${session}`,
      { tool_name: 'Bash', text: 'rm -r fixtures/v2', input: { command: 'rm -r fixtures/v2', cwd: '.' } },
      30,
    )
    const card = page.locator('section[aria-label="Permission for Bash"]')
    await card.getByText('rm -r fixtures/v2').first().waitFor(SOON)
    await page.locator('#agent', { hasText: 'asks for permission' }).waitFor(SOON)
    expect(await card.textContent()).toMatch(/(5 minutes|\d+ seconds) left/)
    await card.locator('input[name=message]').fill('Only v2.')
    await card.locator('input[name=message]').press('Enter') // decides nothing
    if (allow) await page.waitForTimeout(1_500) // what comes live leaves what is typed alone
    expect(await card.locator('input[name=message]').inputValue()).toBe('Only v2.')
    const button = card.getByRole('button', { name: label })
    expect((await button.boundingBox())!.height).toBeGreaterThanOrEqual(44)
    await button.tap()
    await card.getByText(`${allow ? 'Allowed' : 'Denied'} by Robin`).waitFor(SOON)
    expect(await card.textContent()).toContain('Only v2.')
    expect(await answer).toMatchObject({ allow, message: 'Only v2.' })
    expect(await card.locator('button').count()).toBe(0)
    await page.locator('.row-event', { hasText: `Robin ${allow ? 'allowed' : 'denied'} it` }).waitFor(SOON)
    await agents.finish(task_id, { status: 'interrupted' })
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('an answer and an interrupt that were not sent say so, and each is sent once', () =>
  using({}, async (page, _, context) => {
    const agents = await agentsOf()
    const session = await agents.create()
    await agents.prompt(session, 'Drop the old fixtures.')
    const { task_id } = await taken(agents, session)
    const answer = agents.ask(task_id, `req-${session}`, { tool_name: 'Bash', text: 'rm -r fixtures/v2' }, 30)
    await follow(page, session)
    const card = page.locator('section[aria-label="Permission for Bash"]')
    await card.locator('input[name=message]').fill('Only v2.')
    const [allow, deny] = [card.getByRole('button', { name: 'Allow once' }), card.getByRole('button', { name: 'Deny' })]
    const interrupt = page.getByRole('button', { name: 'Interrupt' })
    const notice = page.locator('.notice')
    const acts = /\/(?:permission|interrupt)$/
    const says = async (button: typeof allow, text: string) => {
      await page.evaluate(() => document.querySelector('.notice')?.replaceChildren())
      await button.click()
      await notice.getByText(text, { exact: true }).waitFor(SOON)
    }
    for (const button of [allow, deny, interrupt]) {
      await page.route(acts, (route) => route.abort('connectionrefused'))
      await says(button, 'Parley cannot be reached. Try again.')
      await page.unroute(acts)
      await page.route(acts, (route) => route.fulfill({ status: 502, body: '<p>A proxy' }))
      await says(button, 'Parley cannot be reached. Try again.')
      await page.unroute(acts)
      await context.clearCookies()
      await says(button, 'You are no longer signed in. Sign in in another tab, then send this again.')
      await asRobin(page)
    }
    expect(await card.locator('input[name=message]').inputValue()).toBe('Only v2.')

    const sent: string[] = []
    let goOn = () => {}
    await page.route(acts, async (route) => {
      sent.push(route.request().postData() ?? '')
      await new Promise<void>((resolve) => (goOn = resolve))
      await route.continue()
    })
    await card.locator('input[name=message]').press('Enter')
    await allow.click()
    await card.locator('[name=allow]:disabled').nth(1).waitFor(SOON)
    await deny.click({ force: true })
    await card.locator('input[name=message]').press('Enter')
    goOn()
    await card.getByText('Allowed by Robin').waitFor(SOON)
    expect(await answer).toMatchObject({ allow: true, message: 'Only v2.' })
    await interrupt.click()
    await page.locator('button:disabled', { hasText: 'Interrupt' }).waitFor(SOON)
    await interrupt.click({ force: true })
    goOn()
    await page.locator('.row-message', { hasText: 'Stopping' }).waitFor(SOON)
    await page.waitForTimeout(500) // what was queued would be sent by now
    expect(sent).toEqual([expect.stringContaining('allow=true'), expect.stringMatching(/^task=\d+$/)])
    await agents.finish(task_id, { status: 'interrupted' })
  }),
)

test.skipIf(!FULL).each([true, false])(
  'what a team that is gone asked a person is answered, not prompted; with script: %s',
  (javaScriptEnabled) =>
    using({ javaScriptEnabled }, async (page, complaints) => {
      const agents = await agentsOf()
      const session = await agents.create()
      const at = `/sessions/${session}`
      const cookie = await robin()
      await fetch(`${parley.url}/api${at}/messages`, { method: 'POST', headers: { cookie }, body: 'I am here.' })
      const bea = await parley.post(`${at}/join`, { team_name: "Bea's Team" })
      const question = { content: { text: 'Shall we ship it?' }, to: ['Robin'], expects_reply: true }
      const { message_id, cursor } = await parley.post(`${at}/messages`, question, bea.team_id)
      await asRobin(page, at)
      expect([await page.isVisible('#prompt'), await page.isVisible('#message')]).toEqual([true, false]) // nobody else is there
      await page.goto(`/approvals?meeting=${session}`)
      await page.locator('main').getByRole('link', { name: 'Answer' }).click()
      await page.locator('#composer', { hasText: `Answers Bea's Team, #${cursor}` }).waitFor(SOON)
      expect([await page.isVisible('#prompt'), await page.isVisible('#message')]).toEqual([false, true])
      await page.keyboard.type('Yes.') // the focus is there
      await page.click('#composer [aria-label=Send]')
      await page.locator('.row-message', { hasText: "answers Bea's Team" }).waitFor(SOON)
      const read = await fetch(`${parley.url}/api${at}/messages`, { headers: { 'x-team-id': bea.team_id! } })
      const { messages } = (await read.json()) as { messages: Record<string, unknown>[] }
      expect(messages.at(-1)).toMatchObject({ team: 'Robin', reply_to: message_id, content: { text: 'Yes.' } })
      expect(complaints).toEqual([])
    }),
)

test.skipIf(!FULL)('whatever leads to the box for messages shows it in the place of the one for prompts', () =>
  using({}, async (page, complaints) => {
    const agents = await agentsOf()
    const at = `/sessions/${await agents.create()}`
    await asRobin(page)
    const [prompt, message] = [page.locator('#prompt'), page.locator('#message')]
    const leads = async (way: () => Promise<unknown>) => {
      await page.click('label:has(#to-agent)')
      await message.waitFor({ state: 'hidden', ...SOON })
      await way()
      await page.locator('#message:focus').waitFor(SOON)
      expect(await prompt.isVisible()).toBe(false)
    }
    await openLive(page, at)
    await leads(async () => {
      await page.locator('h1').click()
      await page.keyboard.press('c')
    })
    for (const _ of ['the address changes', 'it stays'])
      await leads(() => page.locator('a', { hasText: 'Skip to the composer' }).press('Enter'))
    await page.goto('/')
    await page.goto(`${at}#message`)
    await page.locator('#message:focus').waitFor(SOON)
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL).each(['concluded', 'archived'])(
  'a half-typed prompt stays when the session is %s meanwhile, and is not sent; so does a message',
  (end) =>
    using({}, async (page, complaints) => {
      const agents = await agentsOf()
      const session = await agents.create()
      const at = `/sessions/${session}`
      const bea = await parley.post(`${at}/join`, { team_name: "Bea's Team" })
      await follow(page, session)
      const [prompt, message] = [page.locator('#prompt'), page.locator('#message')]
      await page.click('label:has(#to-teams)')
      await message.fill('Half a word to all')
      await page.click('label:has(#to-agent)')
      await prompt.fill('Half a prompt')
      await message.waitFor({ state: 'hidden', ...SOON })
      if (end === 'concluded') await parley.post(`${at}/conclude`, { summary_section: 'It is mended.' }, bea.team_id)
      else await agents.manage(session, 'delete')
      for (const form of ['#prompt-box', '#composer'])
        await page.locator(form).getByText('The session is over. Your text was not sent.').waitFor(SOON)
      expect([await prompt.isVisible(), await message.isVisible()]).toEqual([true, true])
      expect([await prompt.inputValue(), await message.inputValue()]).toEqual(['Half a prompt', 'Half a word to all'])
      expect(await page.locator('#feed button[type=submit]:visible').count()).toBe(0)
      expect(await violations(page)).toEqual([])
      const sent: string[] = []
      page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
      for (const field of [prompt, message]) await field.press('Control+Enter')
      await page.waitForTimeout(300)
      expect(sent).toEqual([])
      await prompt.fill('')
      await prompt.waitFor({ state: 'hidden', ...SOON })
      await page.reload()
      for (const field of [prompt, message]) expect(await field.isVisible()).toBe(false)
      expect(complaints).toEqual([])
    }),
)

test.skipIf(!FULL)('without script a person prompts, forks into a new session, interrupts and denies', () =>
  using({ javaScriptEnabled: false }, async (page) => {
    const agents = await agentsOf()
    const session = await agents.create({ title: 'Without script' })
    await asRobin(page, `/sessions/${session}`)
    await page.fill('#prompt', 'Begin.')
    await page.click('[aria-label="Send the prompt"]')
    expect(page.url()).toContain(`/sessions/${session}#m`)
    const { task_id } = await taken(agents, session)
    await agents.ask(task_id, `req-${session}`, { tool_name: 'Write', text: 'notes.md' })
    await page.reload()
    await page.click('#rows details[data-trace] summary')
    await page.click('text=All that it did, on a page of its own')
    expect(page.url()).toContain('/turns/')
    await page.goto(`/sessions/${session}/board`) // the board beside the feed
    await page.click('button:has-text("Deny")')
    expect(await page.textContent('#rows')).toContain('Denied by Robin')
    expect(page.url()).toEndWith('/board')
    await page.goto(`/sessions/${session}`)
    await page.click('button:has-text("Interrupt")')
    expect(await page.textContent('#rows')).toContain('Stopping')
    await agents.finish(task_id, { status: 'interrupted' })
    await page.click('label:has(#to-agent)')
    await page.click('#prompt-box summary')
    await page.click('#prompt-box a:has-text("All choices")')
    await page.check('[name=mode][value=subsession]')
    await page.fill('#prompt-box [name=title]', 'A part of it')
    await page.selectOption('#prompt-box [name=permission_mode]', 'plan')
    await page.fill('#prompt', 'Do a part.')
    await page.click('[aria-label="Send the prompt"]')
    expect(await page.textContent('h1')).toBe('A part of it')
    expect(await page.textContent('#agent')).toContain('plan')
    await page.click('#family summary')
    await page.click('#family a:has-text("Without script")')
    expect(page.url()).toContain(session)
    await agents.finish((await agents.take())[0]!.task_id, { status: 'interrupted' })
  }),
)

test('a new session is opened in a worktree, and its agent begins', () =>
  using({}, async (page, complaints) => {
    const agents = await agentsOf()
    await asRobin(page, '/worktrees')
    const runner = page.locator('section[aria-label="Runner robins-laptop"]')
    expect(await runner.textContent()).toContain('Claude Code 2.1.330 · Codex 0.157.0')
    await runner.locator('li', { hasText: '/home/robin/parser-docs' }).getByText('New session here').click()
    expect(await page.locator('option[value=bypassPermissions]').isDisabled()).toBe(true) // with the reason in its words
    expect(await page.locator('option[value=bypassPermissions]').textContent()).toContain('without --allow-bypass')
    await page.fill('[name=title]', 'The manual')
    await page.fill('[name=initial_prompt]', 'Write the chapter.')
    await page.selectOption('[name=agentic_tool]', 'codex')
    await page.click('text=Open the session')
    await page.locator('h1', { hasText: 'The manual' }).waitFor(SOON)
    expect(await page.textContent('#agent')).toContain('Codex 0.157.0')
    expect(await page.textContent('#agent')).toContain('acme/parser · docs')
    const task = (await agents.take())[0]!
    await page.goto('/worktrees')
    expect(await runner.textContent()).toContain('The manual')
    await agents.finish(task.task_id, { status: 'completed', answer: 'Written.' })
    expect(complaints).toEqual([])
  }))

test('a reader sees all of it, and gets no button', () =>
  using({}, async (page, complaints) => {
    const agents = await agentsOf()
    const session = await agents.create()
    await agents.prompt(session, 'Drop the fixtures.')
    const { task_id } = await taken(agents, session)
    await agents.ask(task_id, `req-${session}`, { tool_name: 'Bash', text: 'rm -r fixtures' })
    await page.goto(`/sign-in?next=/sessions/${session}`)
    await page.fill('[name=key]', VIEWER_PASSWORD)
    await page.click('main button[type=submit]')
    await page.locator('#agent').waitFor(SOON)
    expect(await page.locator('#rows').textContent()).toContain('May it use Bash?')
    for (const name of ['Allow once', 'Deny', 'Interrupt']) expect(await page.locator(`button:has-text("${name}")`).isVisible()).toBe(false)
    expect(await page.locator('#prompt-box').count()).toBe(0)
    await agents.finish(task_id, { status: 'completed', answer: 'Done.' })
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('a page with a running task of 2,000 events, 20 a second, gets about one small update a second', () =>
  using({}, async (page, complaints, context) => {
    const agents = await agentsOf()
    const session = await agents.create()
    await agents.prompt(session, 'A long one.')
    const { task_id } = await taken(agents, session)
    const some = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ type: 'reasoning', content: { text: `step ${i} ${'x'.repeat(200)}` } }))
    for (let n = 0; n < 10; n++) await agents.tell(task_id, some(200))
    const network = await context.newCDPSession(page)
    await network.send('Network.enable')
    let [bytes, firstVisit] = [0, 0]
    network.on('Network.dataReceived', ({ dataLength }) => (bytes += dataLength))
    network.on('Network.loadingFinished', ({ encodedDataLength }) => (firstVisit += encodedDataLength))
    await follow(page, session)
    await page.getByText(/Running \d+:\d\d · 2,000 events/).waitFor(SOON)
    await Bun.sleep(1_500)
    console.log(`the first visit to the page of a running task: ${firstVisit} bytes`)
    expect(firstVisit).toBeLessThanOrEqual(60 * 1024)
    await page.evaluate(() => {
      const seen = { changes: 0 }
      Object.assign(window, { seen })
      new MutationObserver((records) => (seen.changes += records.length > 0 ? 1 : 0)).observe(document.querySelector('#rows')!, {
        subtree: true,
        childList: true,
        characterData: true,
      })
    })
    bytes = 0
    const began = performance.now()
    for (let n = 0; n < 16; n++) {
      await agents.tell(task_id, some(5))
      await Bun.sleep(250)
    }
    const seconds = (performance.now() - began) / 1_000
    const changes = await page.evaluate<number>('seen.changes')
    console.log(`in ${seconds.toFixed(1)} s, with 80 events: ${changes} updates, ${(bytes / seconds / 1024).toFixed(2)} KiB/s`)
    expect(changes).toBeGreaterThan(0)
    expect(changes).toBeLessThanOrEqual(2 * seconds + 3) // one for each time that something was told would be 16
    expect(bytes / seconds).toBeLessThan(2 * 1024)
    await agents.finish(task_id, { status: 'completed', answer: 'Done.' })
    expect(complaints).toEqual([])
  }),
)

test.skipIf(!FULL)('an agent whose runner is gone says so at once, with the line that starts one; a new child shows in the tree', () =>
  using({}, async (page, complaints) => {
    const agents = await startAgents(parley, {
      name: 'another-laptop',
      worktrees: [{ path: '/w', repo_full_name: 'acme/w', branch: 'main', head: null }],
    })
    const session = await agents.create({ title: 'The parent' })
    await follow(page, session)
    expect(await page.getByText('Prompts wait for a runner').isVisible()).toBe(false)
    const { database } = parley.services
    await database.query(`update runners set seen_at = now() - interval '2 minutes' where id = $1`, [agents.runner_id])
    await page.locator('#agent', { hasText: 'no runner' }).waitFor(SOON)
    await page.locator('#roster', { hasText: 'away' }).waitFor(SOON)
    expect(await page.getByText('Prompts wait for a runner').isVisible()).toBe(true)
    expect(await page.textContent('main')).toMatch(/PARLEY_RUNNER_KEY=… .* runner --hub http/)
    await agents.prompt(session, 'A part.', { mode: 'subsession', title: 'The child' })
    await page.locator('#family', { hasText: '1 session below this one' }).waitFor({ timeout: 10_000 })
    await page.click('#family summary')
    await page.click('#family a:has-text("The child")')
    await page.locator('#family', { hasText: 'One of a tree with 1 other session' }).waitFor(SOON)
    expect(complaints).toEqual([])
  }),
)

test('a person changes what the agent may, stops it and starts it again', () =>
  using({}, async (page, complaints) => {
    const agents = await agentsOf()
    const session = await agents.create()
    await follow(page, session)
    const choose = async (item: string) => {
      await page.click('[aria-label="More actions"]')
      await page.click(`text=${item}`)
    }
    await choose('What the agent may…')
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.click('#prompt-box summary')
    await page.locator('#prompt-box').getByText('Subsession', { exact: true }).click()
    await page.locator('#prompt-box').getByLabel('Permissions').selectOption('plan') // by its own label, with the dialog's form still there
    await choose('What the agent may…')
    await page.selectOption('#dialog [name=permission_mode]', 'bypassPermissions')
    await page.fill('#dialog [name=max_usd]', '2.5')
    await page.click('#dialog [data-act]')
    await page.locator('#agent', { hasText: 'bypassPermissionsmay do anything' }).waitFor(SOON)
    await page.locator('#agent', { hasText: 'may use $2.50' }).waitFor(SOON)
    await parley.services.database.query('update agents set max_usd = 0.005 where session_id = $1', [session]) // as the API allows it
    await choose('What the agent may…')
    await page.selectOption('#dialog [name=permission_mode]', 'acceptEdits')
    await page.click('#dialog [data-act]')
    await page.locator('#agent', { hasText: 'acceptEdits' }).waitFor(SOON)
    await choose('Stop the agent…')
    await page.click('#dialog [data-act]')
    await page.locator('#agent', { hasText: 'Its agent is stopped' }).waitFor(SOON)
    await choose('Start the agent again…')
    await page.click('#dialog [data-act]')
    await page.locator('#agent', { hasText: 'Its agent is stopped' }).waitFor({ state: 'hidden', ...SOON })
    expect(complaints).toEqual([])
  }))

test('a guest with a shared link reads the session, and learns of no other, in the page and in what it follows', async () => {
  const site = await serveSite({ VIEWER_PASSWORD, ACCESS_TOKEN: 'a-token-for-agents-and-tests' })
  try {
    const agents = await startAgents(site)
    const session = await agents.create({ title: 'Shared with people outside' })
    await agents.prompt(session, 'A part.', { mode: 'subsession', title: 'Nothing for guests' })
    const robin = await cookieOf(site)
    const shared = await fetch(`${site.url}/sessions/${session}/share`, { method: 'POST', headers: { cookie: robin } })
    const [link = ''] = /http[^<\s]+\/shared\/[^<\s]+/.exec(await shared.text())!
    const opened = await fetch(link, { redirect: 'manual' })
    const cookie = opened.headers.getSetCookie()[0]!.split(';')[0]!
    const read = (path: string, who = cookie) =>
      fetch(`${site.url}/sessions/${session}${path}`, { headers: { cookie: who, accept: 'text/html' } })
    const page = await (await read('')).text()
    expect(page).toContain('id="agent"')
    expect(page).not.toContain('Nothing for guests')
    expect((await read('/family')).status).toBe(401)
    const live = (await read('/live?after=0&doc=0')).body!.getReader()
    let told = ''
    while (!told.includes('#agent')) told += new TextDecoder().decode((await live.read()).value)
    await live.cancel()
    expect(told).not.toContain('Nothing for guests')
    expect(await (await read('', robin)).text()).toContain('Nothing for guests')
    expect(await (await read('/family', robin)).text()).toContain('Nothing for guests')
  } finally {
    await site.stop()
  }
})

// What no text of an agent, a runner or a prompt can be on these pages.
const FOREIGN =
  'script:not([src^="/public/"]), iframe, object, embed, img, video, base, style, meta[http-equiv], hx-partial, [onerror], [onload], [onclick], [hx-get]:not(#dialog, [hx-target="#dialog"]), [style], [href^="javascript:" i], [src^="http"]'

const foreign = (page: Page) => page.locator(FOREIGN).evaluateAll((all) => all.map(({ outerHTML }) => outerHTML.slice(0, 200)))

test('what agents, runners and prompts say is text on every page, also where it comes live', () =>
  using({ viewport: { width: 1280, height: 2_000 } }, async (page, complaints) => {
    const hostile = HOSTILE.join('\n').toWellFormed().replaceAll('\0', '')
    const fit = (characters: number) => [...hostile].slice(0, characters).join('')
    const name = `<img src=x onerror=alert(1)> </i><hx-partial hx-target="#rows">`
    const worktree = {
      path: `/w/${fit(3_000)}`,
      repo_full_name: `<b onclick=alert(1)>x</b>`,
      branch: `"><script>alert(1)</script>`,
      head: '<svg/onload=alert(1)>',
    }
    const agents = await startAgents(parley, {
      name: name.slice(0, 100),
      agents: [{ agentic_tool: 'claude-code', version: '<script>alert(1)</script>' }],
      worktrees: [worktree],
    })
    const session = await agents.create({ title: name.repeat(2), description: fit(2_000) })
    await follow(page, session)
    await agents.prompt(session, fit(20_000))
    await agents.prompt(session, 'A part.', { mode: 'subsession', title: name })
    const { task_id } = await taken(agents, session)
    const given = { command: fit(2_000), questions: [{ question: fit(2_000), options: [name] }] }
    await agents.tell(task_id, [
      { key: 'asks', type: 'tool_call', tool_name: name, content: { arguments: given } },
      { type: 'tool_response', tool_name: name, content: { text: fit(5_000) } },
      { type: 'assistant_response', content: { text: fit(5_000) } },
    ])
    await agents.ask(task_id, fit(100), { tool_name: name, text: fit(5_000), input: { [name]: fit(2_000) } })
    await page.locator('section[aria-label^="Permission for"]').waitFor(SOON)
    await page.locator('#rows details[data-trace] > summary').first().click()
    await page.locator('#rows details[data-trace] .trace-part').first().waitFor(SOON)
    expect(await foreign(page)).toEqual([])
    await agents.finish(task_id, { status: 'interrupted', interrupted_by: 'asks', error: { code: 'x', message: fit(2_000) } })
    await page.locator('.row-message', { hasText: 'The next prompt is the answer' }).waitFor(SOON)
    expect(await foreign(page)).toEqual([])
    for (const path of [`/sessions/${session}`, '/worktrees', `/worktrees/${agents.worktree}/new`, '/']) {
      await page.goto(path)
      for (const fold of await page.locator('main details > summary:visible').all()) await fold.click()
      await page.waitForTimeout(500)
      expect({ path, foreign: await foreign(page) }).toEqual({ path, foreign: [] })
    }
    expect(complaints).toEqual([])
  }))

test.skipIf(!FULL)('without a runner the pages say the one command that starts one', async () => {
  const nothing = await serveSite()
  try {
    await using(
      MOBILE,
      async (page, complaints) => {
        await page.goto('/worktrees')
        expect(await page.textContent('main')).toMatch(/PARLEY_RUNNER_KEY=… .*runner --hub http:\/\/127\.0\.0\.1:\d+/)
        expect(await violations(page)).toEqual([])
        expect(complaints).toEqual([])
      },
      nothing,
    )
  } finally {
    await nothing.stop()
  }
})

const LOOKS = {
  light: { viewport: { width: 1280, height: 1_600 } },
  'dark phone': { ...MOBILE, colorScheme: 'dark' },
  dark: { viewport: { width: 1280, height: 1_600 }, colorScheme: 'dark' },
  phone: MOBILE,
} as const

test.skipIf(!FULL).each(Object.entries(LOOKS))('pages of agents are readable for everybody: %s', async (look, options) => {
  const demo = await serveSite()
  try {
    const { session, child } = await fillAgents(demo)
    await using(
      options,
      async (page, complaints) => {
        const [name = '', value = ''] = (await cookieOf(demo)).split('=')
        await page.context().addCookies([{ name, value, url: demo.url }])
        for (const path of [`/sessions/${session}`, `/sessions/${child}`, '/worktrees', '/']) {
          await page.goto(path)
          for (const fold of await page.locator('main details > summary:visible').all()) await fold.click()
          await page.mouse.move(0, 0)
          await page.waitForTimeout(500)
          expect({ path, wrong: await violations(page, look.startsWith('dark') ? 'dark' : 'light') }).toEqual({ path, wrong: [] })
          expect({ path, over: await page.evaluate(() => document.documentElement.scrollWidth - innerWidth) }).toEqual({ path, over: 0 })
        }
        await page.goto('/worktrees')
        await page.getByText('New session here').first().click()
        expect(await violations(page, look === 'dark' ? 'dark' : 'light')).toEqual([])
        expect(complaints).toEqual([])
      },
      demo,
    )
  } finally {
    await demo.stop()
  }
})
