// Purging: a session is gone from the log, the index and the memory of every instance, and what came of it stays whole.
import { expect, test } from 'bun:test'
import { bodySource } from '../../src/import/source.ts'
import { importTranscript } from '../../src/import/transcript.ts'
import { purge } from '../../src/process/purge.ts'
import { askOverRest, indexed, trace } from '../support/history.ts'
import { bearer, keyOf } from '../support/keys.ts'
import { cookieOf, done, onEveryEngine, refused, room, seat, soon, viaRest, type Parley, type Seat } from '../support/parley.ts'
import { personAt, recordsOf } from '../support/records-scene.ts'
import { PURGED } from '../../src/rooms/handoff.ts'
import { claudeLine, dataFile, eventsOf, importFile, sessionRow } from '../support/transcripts.ts'
import { controlScene } from '../support/control-scene.ts'
import { holdLock, waitingForLocks } from '../support/held-lock.ts'
import { createFeeds } from '../../src/log/feeds.ts'
import { CUT_KIND } from '../../src/process/publish.ts'
import type { Services } from '../../src/process/services.ts'
import { documentVersions, editsIn, readDocument } from '../../src/stores/documents.ts'
import { purgeArguments, purgeReport } from '../../src/cli/purge.ts'

const TABLES_WITHOUT = ['sessions'] // which may keep a row

onEveryEngine((parley, engine) => {
  const call = () => viaRest(parley())
  const say = (seat: Seat, text: string) => done(seat('post_message', { content: { text } }))
  const order = (...words: string[]) => purge(parley().services, purgeArguments(words))

  test('without --yes it tells what it would delete, and deletes nothing', async () => {
    const { id, alex } = await room(call())
    await say(alex, 'Still here.')
    const answer = await order(id, crypto.randomUUID())
    expect(answer).toMatchObject({ sessions: [{ id, title: 'Shipping the parser', events: 2, kept_for: 0 }], purged: 0 })
    expect(purgeReport(answer, purgeArguments([id]))).toContain('deleted nothing')
    expect(answer.unknown).toHaveLength(1)
    expect((await done(alex('get_history'))).messages).toHaveLength(2)
  })

  test('a session is deleted with all that hangs on it, at every instance', async () => {
    const { id, alex, bea } = await room(call())
    const stays = await room(call(), { title: 'Another one' })
    await say(alex, 'The quixotic zeugma is never seen again.')
    await done(alex('update_session_doc', { content: '# Quixotic plan', expected_version: 0 }))
    await done(alex('post_message', { content: { text: 'With a key.' } }, { key: 'a key of this session' }))
    await say(stays.alex, 'The zeugma stays.')
    await indexed(parley())
    const other = await parley().beside({})
    const elsewhere = async () => (await other.send(`/sessions/${id}`)).status
    expect(await elsewhere()).toBe(200)
    const waiting = bea('wait_for_messages', { since_cursor: 4, timeout: 20 })

    const answer = await order(id, '--yes')
    expect(answer).toMatchObject({ purged: 1 })
    expect(purgeReport(answer, purgeArguments([id, '--yes']))).toMatch(/Backups and exports .* and other sessions what they took from them/)
    expect(await order(id, '--yes')).toMatchObject({ purged: 0, unknown: [id] })
    expect((await waiting).ok === false || (await waiting).body.messages.length === 0).toBe(true)
    expect((await alex('get_history')).body.code).toBe('unauthorized')
    for (const send of [parley().send, other.send]) expect((await send(`/sessions/${id}`)).status).toBe(404)
    expect(await rowsAbout(parley(), id)).toEqual([])
    const { data } = await askOverRest(parley())('search_sessions', { query: 'zeugma' })
    expect(JSON.stringify(data)).toContain(stays.id)
    expect(JSON.stringify(data)).not.toContain(id)
    await other.close()
  })

  test('whoever holds a wait, a peek or a stream of it is told at once, at every instance, and a page is not left with what it shows', async () => {
    const { id, alex, bea } = await room(call())
    await done(alex('update_session_doc', { content: '# The plan', expected_version: 0 }))
    const { cursor } = (await say(alex, 'Soon gone.')) as any
    const other = await parley().beside({}, {}, { intervals: { sweep: 50 } }) // on the embedded database nothing notifies it
    const elsewhere = viaRest(other)
    const held = [
      alex('wait_for_messages', { since_cursor: cursor, timeout: 20 }),
      alex('wait_for_messages', { since_cursor: cursor, timeout: 20, only: 'addressed' }),
      elsewhere('wait_for_messages', { session_id: id, since_cursor: cursor, timeout: 20 }, { team: bea.token }),
      alex('peek', { after: cursor, timeout: 20 }),
    ]
    const any = call()('wait_for_any', { waits: [{ session_id: id, team_id: alex.token, since_cursor: cursor }], timeout: 20 })
    const streams = await Promise.all(
      [parley(), other].flatMap(({ send }) =>
        [`/api/sessions/${id}/stream`, `/sessions/${id}/live?after=${cursor}&doc=1`].map((path) => send(path)),
      ),
    )
    const texts = streams.map((stream) => stream.text())
    expect(await (await parley().send(`/sessions/${id}/document?version=1`)).text()).toContain('The plan')
    const { waits, peeks } = parley().services
    await soon('all are held', () => waits.held === 3 && peeks.held === 1 && other.services.waits.held === 1)
    const begun = performance.now()
    await order(id, '--yes')
    for (const answer of held) await refused(answer, 'unauthorized')
    expect((await done(any)).results).toMatchObject([{ session_id: id, error: { code: 'unauthorized' } }])
    await Promise.all(texts)
    expect(performance.now() - begun).toBeLessThan(10_000) // an instance that is not notified looks every few seconds
    const paths = [
      `/api/sessions/${id}/stream`,
      ...['live', 'document?version=1', 'rows?before=4'].map((part) => `/sessions/${id}/${part}`),
    ]
    for (const { send } of [parley(), other]) for (const path of paths) expect((await send(path)).status).toBe(404)
    await other.close()
  })

  test('with it go the answers that are kept for retries: of the calls that opened it, of its tasks, proposals and records', async () => {
    const keyed = () => ({ key: crypto.randomUUID() })
    const open = { title: 'A secret plan', description: 'Secret.', creator_team_name: "Alex's Team" }
    const created = await done(call()('create_session', open, keyed()))
    const id = created.session_id
    const alex = recordsOf(call(), seat(call(), created))
    await done(call()('join_session', { session_id: id, team_name: "Bea's Team" }, keyed()))
    const nora = await personAt(parley())
    const proposed = await done(alex('propose_decision', { title: 'A secret', description: 'It is so.' }, keyed()))
    const { proposal } = await done(nora('records.resolve_approval', { proposal_id: proposed.id, action: 'approve' }, keyed()))
    const item = await done(alex('propose_action_item', { title: 'Keep a secret' }, keyed()))
    await done(nora('records.resolve_approval', { proposal_id: item.id, action: 'approve' }, keyed()))
    expect(purgeReport(await order(id), purgeArguments([id]))).toContain('(with 1 decision(s) in force and 1 open action item(s))')
    await done(nora('records.withdraw_record', { record_id: proposal.record_id, reason: 'No more.' }, keyed()))
    const agent = await controlScene(parley())
    await agent.start('Find the secret.', { idempotency_key: crypto.randomUUID() })
    await agent.runner.work('A secret.', [], { idempotency_key: crypto.randomUUID() })
    expect(await order(id, agent.session_id, '--yes')).toMatchObject({ purged: 2 })
    const [kept] = await parley().database.query<{ texts: string }>(
      `select coalesce(string_agg(answer::text, ''), '') as texts from idempotency`,
    )
    for (const word of ['ecret', id, agent.session_id]) expect(kept!.texts).not.toContain(word)
  })

  test('the index is as if the session had never been', async () => {
    const { id, alex } = await room(call())
    for (const n of [1, 2, 3]) await say(alex, `panic in the lexer, number ${n}: panic at parse_token`)
    await indexed(parley())
    await order(id, '--yes')
    const after = await indexOf(parley())
    await parley().services.indexer.rebuild(() => {})
    expect(after).toEqual(await indexOf(parley()))
  })

  const long = () => {
    const texts = Array.from({ length: 150 }, (_, i) => `step ${i} of the lexer: ${`w${i}x `.repeat(1_000)}`)
    const turns = [texts.slice(0, 70), texts.slice(70)].map((some) => some.map((text) => ({ type: 'user_input', text })))
    return trace(parley(), turns)
  }

  test('a long one goes in pieces, between which others have their turn', async () => {
    const { id } = await long()
    await indexed(parley())
    const { database } = parley()
    let pieces = 0
    const counting: typeof database = { ...database, unhurried: (...args) => (pieces++, database.unhurried(...args)) }
    let [asked, over] = [0, false]
    const asking = (async () => {
      for (; !over; asked++) await database.query('select 1')
    })()
    expect(await purge({ ...parley().services, database: counting }, purgeArguments([id, '--yes']))).toMatchObject({ purged: 1 })
    over = true
    await asking
    expect(pieces).toBeGreaterThanOrEqual(4) // each of a few hundred KiB at most
    expect(asked).toBeGreaterThanOrEqual(pieces - 1)
    expect(await rowsAbout(parley(), id)).toEqual([])
  })

  test('one that is cut short leaves the beginning of a session, of which the index is true, and is done when it is given again', async () => {
    const { id } = await long()
    await indexed(parley())
    const { database, services } = parley()
    let left = 3
    const ending: typeof database = {
      ...database,
      unhurried: (...args) =>
        left-- > 0 ? database.unhurried(...args) : Promise.reject(new Error('Failed query: …', { cause: new Error('ended') })),
    }
    const ended = await purge({ ...services, database: ending }, purgeArguments([id, '--yes']))
    expect(ended).toMatchObject({ purged: 0, cut_short: true, failed: 'ended' })
    const row = await sessionRow(parley(), id)
    expect(row.last_sequence).toBeGreaterThan(0)
    expect(row.last_sequence).toBeLessThan(150)
    expect(row.archived_at).not.toBeNull()
    expect((await eventsOf(parley(), id)).map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: row.last_sequence }, (_, i) => i + 1),
    )
    const [progress] = await progressOf(id)
    expect(progress).toEqual({ indexed_sequence: row.last_sequence, messages: row.last_sequence })
    const kept = await indexOf(parley())
    await services.indexer.rebuild(() => {})
    expect(kept).toEqual(await indexOf(parley()))
    expect(await progressOf(id)).toEqual([progress!])
    expect(await order(id, '--yes')).toMatchObject({ purged: 1 })
    expect(await rowsAbout(parley(), id)).toEqual([])
  })

  test('one that is cut short takes its events out of memory too, and whoever restores the session misses nothing that is said then', async () => {
    const { id, alex, bea } = await room(call())
    const { database, services } = parley()
    for (let n = 0; n < 60; n++) await say(alex, `${n} ${'x'.repeat(20_000)}`)
    const waitFrom = async (since_cursor?: number) =>
      (await done(bea('wait_for_messages', { timeout: 0, ...(since_cursor !== undefined && { since_cursor }) }))) as any
    for (let cursor = 2; cursor < 61;) cursor = (await waitFrom(cursor)).next_cursor // all of it is delivered, and in memory
    const held = bea('wait_for_messages', { since_cursor: 61, timeout: 3 })
    await soon('it waits', () => services.waits.held === 1)
    let left = 3
    const ending: typeof database = {
      ...database,
      unhurried: (...args) => (left-- > 0 ? database.unhurried(...args) : Promise.reject(new Error('ended'))),
    }
    const ended = await purge({ ...services, database: ending }, purgeArguments([id, '--yes']))
    expect(ended).toMatchObject({ purged: 0, cut_short: true, failed: 'ended' })
    await refused(held, 'unauthorized') // it stood behind where the log ends now
    const { last_sequence: end } = await sessionRow(parley(), id)
    expect([end > 20, end < 61]).toEqual([true, true])
    const sequences = async (from?: number) => (await waitFrom(from)).messages.map(({ sequence }: any) => sequence)
    expect(await sequences(end - 1)).toEqual([end])
    await done(call()('control.manage_session', { session_id: id, action: 'start' }, { headers: bearer(await keyOf(parley(), 'full')) }))
    const said = await say(alex, 'And now?')
    expect(await sequences(end)).toContain((said as any).cursor)
    await say(alex, 'Are you there?')
    expect(await sequences()).toEqual([(said as any).cursor + 1])
  })

  test('a piece whose commit nobody answered, as where its process died, is gone from the memory of every instance', async () => {
    const { id, alex, bea } = await room(call())
    const { database, services } = parley()
    for (let n = 0; n < 12; n++) await say(alex, `${n} ${'…'.repeat(10_000)}`) // more bytes than memory takes them for
    const { last_sequence: newest } = await sessionRow(parley(), id)
    const other = engine === 'postgres' ? await parley().beside({}) : parley() // on the embedded database nothing notifies it
    const readers = [parley(), other].map((at) => async (since_cursor: number) => {
      const { messages } = await done(viaRest(at)('wait_for_messages', { session_id: id, since_cursor, timeout: 0 }, { team: bea.token }))
      return messages.map(({ sequence }: any) => sequence) as number[]
    })
    for (const read of readers) for (let cursor = 1; cursor < newest;) cursor = (await read(cursor)).at(-1)! // all of it is in memory
    let answered = 0
    const unanswered: typeof database = {
      ...database,
      async unhurried(...args) {
        const answer = await database.unhurried(...args)
        return ++answered === 2 ? Promise.reject(new Error('no answer')) : answer
      },
    }
    const cut = await purge({ ...services, database: unanswered }, purgeArguments([id, '--yes']))
    expect(cut).toMatchObject({ purged: 0, cut_short: true, failed: 'no answer' })
    const { last_sequence: end } = await sessionRow(parley(), id)
    expect(end).toBeLessThan(newest)
    for (const read of readers) await soon('it has forgotten', async () => Bun.deepEquals(await read(end - 1), [end]), 3)
    if (other !== parley()) await (other as any).close()
  })

  test('a read of the log that began before it was cut brings nothing back into memory', async () => {
    const { id, alex } = await room(call())
    await say(alex, 'Soon gone.')
    const feeds = createFeeds(parley().database)
    const reading = feeds.after(id, 0, true, 1)
    feeds.forget(id)
    const newest = (await reading).events.at(-1)!.sequence
    expect(feeds.recent(id, newest - 1, newest)).toBeUndefined()
    await feeds.after(id, 0, true, 1)
    expect(feeds.recent(id, newest - 1, newest)).toHaveLength(1)
  })

  test('one that is cut short and restored takes no post by where its log ended before', async () => {
    const { id, alex, bea } = await room(call())
    const { database, services } = parley()
    await say(bea, 'Here.')
    for (let n = 0; n < 12; n++) await say(alex, `${n} ${'x'.repeat(30_000)}`)
    const { last_sequence: before } = await sessionRow(parley(), id)
    await done(bea('ack_messages', { cursor: before }))
    await database.query('insert into loops (session_id, released_through) values ($1, $2) on conflict (session_id) do update set released_through = $2', [id, before]) // prettier-ignore
    let left = 2
    const ending: typeof database = {
      ...database,
      unhurried: (...args) => (left-- > 0 ? database.unhurried(...args) : Promise.reject(new Error('ended'))),
    }
    const ended = await purge({ ...services, database: ending }, purgeArguments([id, '--yes']))
    expect(ended).toMatchObject({ purged: 0, cut_short: true, failed: 'ended' })
    await done(call()('control.manage_session', { session_id: id, action: 'start' }, { headers: bearer(await keyOf(parley(), 'full')) }))
    const end = async () => (await sessionRow(parley(), id)).last_sequence
    expect(await end()).toBeLessThan(before)
    const beyond = `select from acks where session_id = $1 and cursor > $2 union all select from loops where session_id = $1 and released_through > $2`
    expect(await database.query(beyond, [id, await end()])).toEqual([])
    // With a key, so that the database numbers each.
    while ((await end()) < before) await done(bea('post_message', { content: { text: 'Again.' } }, { key: crypto.randomUUID() }))
    await refused(alex('post_message', { content: { text: 'Did nobody speak?' }, expected_cursor: before - 1 }), 'unread')
  })

  test('the versions of its document go in pieces too, the oldest first: cut short, it has the newest, and the document', async () => {
    const { id } = await room(call())
    const { database, services } = parley()
    await database.query(
      `insert into session_doc_history (session_id, version, content, written_by, written_at)
       select $1, v, repeat('line ', 20000), 'Alex', now() - (20 - v) * interval '1 hour' from generate_series(1, 20) v`,
      [id],
    )
    await database.query(`update session_docs set version = 20, content = 'The plan' where session_id = $1`, [id])
    let left = engine === 'pglite' ? 16 : 6 // the first deletes answers; a piece is one version there, and three here
    const ending: typeof database = {
      ...database,
      unhurried: (...args) => (left-- > 0 ? database.unhurried(...args) : Promise.reject(new Error('ended'))),
    }
    const ended = await purge({ ...services, database: ending }, purgeArguments([id, '--yes']))
    expect(ended).toMatchObject({ purged: 0, cut_short: true, failed: 'ended' })
    expect((await documentVersions(database, id, undefined, 30)).map(({ version }) => version)).toEqual([20, 19, 18, 17, 16])
    expect(await readDocument(database, id)).toEqual({ content: 'The plan', version: 20 })
    const since = new Date(Date.now() - 90 * 60_000).toISOString()
    expect((await editsIn(database, id, { since })).map(({ to }) => to)).toEqual([19, 20])
    expect((await sessionRow(parley(), id)).archived_at).not.toBeNull()
    expect(await order(id, '--yes')).toMatchObject({ purged: 1 })
    expect(await rowsAbout(parley(), id)).toEqual([])
  })

  test('one whose command has hung up, or whose server stops, ends with the piece that it is at, and the log says so', async () => {
    const { id } = await long()
    await indexed(parley())
    const other = await parley().beside({}, { commandSecret: 's' })
    const command = new AbortController()
    other.services.onTopic(CUT_KIND, () => command.abort()) // once a piece is gone
    const ask = async (signal?: AbortSignal) => {
      const headers = { authorization: 'Bearer s' }
      const body = JSON.stringify(purgeArguments([id, '--yes']))
      const answer = await other.send('/api/commands/purge', { method: 'POST', headers, body, ...(signal && { signal }) })
      return answer.json()
    }
    expect(await ask(command.signal)).toMatchObject({ purged: 0, cut_short: true })
    const { last_sequence: end } = await sessionRow(parley(), id)
    expect([end > 0, end < 150]).toEqual([true, true])
    const said = other.logged.filter((line) => line.includes('a purge '))
    expect(said).toEqual([expect.stringContaining('a purge begins'), expect.stringContaining('a purge was cut short')])
    other.services.drain()
    expect(await ask()).toMatchObject({ purged: 0, cut_short: true })
    expect((await sessionRow(parley(), id)).last_sequence).toBe(end)
    await other.close()
    expect(await order(id, '--yes')).not.toHaveProperty('cut_short')
    expect(await rowsAbout(parley(), id)).toEqual([])
  })

  test('through a server it takes as many ids as a command line', async () => {
    const other = await parley().beside({}, { commandSecret: 's' })
    const ids = Array.from({ length: 5_000 }, () => crypto.randomUUID())
    const order = { method: 'POST', headers: { authorization: 'Bearer s' }, body: JSON.stringify(purgeArguments(ids)) }
    const answer = await other.send('/api/commands/purge', order)
    expect(await answer.json()).toEqual({ sessions: [], unknown: ids, purged: 0 })
    await other.close()
  })

  const progressOf = (id: string) =>
    parley().database.query<object>('select indexed_sequence, messages from session_index where session_id = $1', [id])

  test('children, forks and series of a purged session stay whole: its row is kept for them, without a word of it', async () => {
    const { id, alex } = await room(call(), { title: 'The secret plan' })
    await done(alex('conclude_session', { summary_section: 'A secret.' }))
    const next = await done(
      call()('create_session', { title: 'Goes on', description: '', creator_team_name: 'Alex', resume_from: id }, { team: alex.token }),
    )
    expect(await order(id, '--yes')).toMatchObject({ sessions: [{ kept_for: 1 }], purged: 1 })
    const { genealogy } = await done(call()('get_session', { session_id: next.session_id }, { team: next.team_id }))
    expect(genealogy).toMatchObject({ resumed_from_session_id: id, series_id: id })
    const page = await parley().send(`/sessions/${id}`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('(purged)')])
    const [row] = await parley().database.query<{ text: string }>('select row_to_json(s)::text as text from sessions s where id = $1', [id])
    expect(row!.text).not.toContain('secret')
    expect(await order(id)).toMatchObject({ sessions: [], unknown: [id] })
    const nora = await personAt(parley())
    for (const [name, more] of [
      ['join_session', { team_name: 'Late' }],
      ['reopen_session', { reason: 'To go on.' }],
      ['control.manage_session', { action: 'start' }],
    ] as const)
      await refused(nora(name, { session_id: id, ...more }), 'not_found')
    await refused(
      call()('create_session', { title: 'Goes on', description: '', creator_team_name: 'Alex', resume_from: id }, { team: next.team_id }),
      'not_found',
    )
  })

  test('the row of a purged session stands in no list, is found by no search, and its page and handoff offer nothing', async () => {
    const { id, alex } = await room(call(), { title: 'The secret plan' })
    const resumed = { title: 'Goes on', description: '', creator_team_name: 'Alex', resume_from: id }
    const next = await done(call()('create_session', resumed, { team: alex.token }))
    await order(id, '--yes')
    await parley().services.indexer.rebuild(() => {})
    const cookie = await cookieOf(parley(), { name: 'Nora', role: 'person' })
    const textOf = async (path: string) => (await parley().send(path, { headers: { cookie } })).text()
    for (const path of ['/', '/?status=concluded', '/?q=purged']) expect(await textOf(path)).not.toContain(`/sessions/${id}`)
    expect(await textOf('/')).toContain(next.session_id)
    const ask = askOverRest(parley())
    expect(JSON.stringify((await ask('search_sessions', { query: 'purged' })).data)).not.toContain(id)
    const range = { start_datetime: '2020-01-01T00:00:00Z', end_datetime: '2100-01-01T00:00:00Z', limit: 100 }
    const { data } = await ask('list_sessions', range)
    expect(JSON.stringify(data)).toContain(`session:${next.session_id}`)
    expect(data.sessions.map((listed: any) => listed.open.session_id)).not.toContain(`session:${id}`)
    const full = bearer(await keyOf(parley(), 'full'))
    const { sessions } = await done(call()('control.list_sessions', { include_archived: true, limit: 200 }, { headers: full }))
    expect(sessions.map(({ session_id }: any) => session_id)).toContain(next.session_id)
    expect(sessions.map(({ session_id }: any) => session_id)).not.toContain(id)
    const { resources } = await (await parley().client('/mcp', full)).listResources()
    expect(resources.filter(({ uri }) => uri.includes(id))).toEqual([])

    const page = await textOf(`/sessions/${id}`)
    expect(page).toContain(PURGED)
    for (const act of ['share', 'conclude', 'reopen', 'resume', 'messages']) expect(page).not.toContain(`/sessions/${id}/${act}`)
    expect(await textOf(`/api/sessions/${id}/handoff.md`)).toBe(`# Handoff: (purged)\n\n${PURGED}\n`)
    const nora = await personAt(parley())
    const { meetings } = await done(nora('records.get_meetings', { limit: 50 }))
    expect(meetings.map(({ meeting_id }: any) => meeting_id)).toContain(next.session_id)
    expect(meetings.map(({ meeting_id }: any) => meeting_id)).not.toContain(id)
    expect(JSON.stringify(await done(nora('records.search_content', { query: 'purged' })))).not.toContain(id)
    for (const [name, more] of [
      ['post_message', { content: 'Hello?' }],
      ['conclude_session', { summary_section: 'Over.' }],
      ['update_session_metadata', { title: 'Again', reason: 'To see.' }],
    ] as const)
      await refused(nora(name, { session_id: id, ...more }), 'not_found')
  })

  test('a transcript that comes again is whole, also where its row was kept, and can be purged again', async () => {
    const { session_id: id } = await importFile(parley(), dataFile('claude-code.jsonl'))
    const before = await eventsOf(parley(), id)
    const { id: child } = await room(call())
    await parley().database.query('update sessions set parent_session_id = $1 where id = $2', [id, child])
    const { title } = await sessionRow(parley(), id)
    expect(await order(id, '--yes')).toMatchObject({ purged: 1, sessions: [{ kept_for: 1 }] })
    await importFile(parley(), dataFile('claude-code.jsonl'))
    expect(await eventsOf(parley(), id)).toEqual(before)
    expect(await sessionRow(parley(), id)).toMatchObject({ title, purged_at: null, archived_at: null, status: 'closed' })
    expect(await order(id, '--yes')).toMatchObject({ purged: 1 })
    expect(await eventsOf(parley(), id)).toEqual([])
  })

  test('one that comes again in more than one batch is named as it was, by what stands late in it', async () => {
    const session = crypto.randomUUID()
    const lines = [
      claudeLine(1, 'user', 'Fix the lexer.', { session }),
      claudeLine(2, 'assistant', 'word '.repeat(120_000), { session, end: true }), // as much as a batch takes
      JSON.stringify({ type: 'custom-title', customTitle: 'The release', sessionId: session }),
      JSON.stringify({ type: 'summary', summary: 'It ships.', leafUuid: 'line-2', sessionId: session }),
    ]
    const bring = () => importTranscript(parley().services, bodySource(new Response(lines.join('\n')).body, '', 1e9))
    const { session_id: id } = await bring()
    const { id: child } = await room(call())
    await parley().database.query('update sessions set parent_session_id = $1 where id = $2', [id, child])
    const before = await sessionRow(parley(), id)
    expect(before).toMatchObject({ title: 'The release', description: 'It ships.' })
    await order(id, '--yes')
    await bring()
    const { title, description } = await sessionRow(parley(), id)
    expect([title, description]).toEqual([before.title, before.description])
    await order(id, '--yes')
  })

  test('one that is cut short and restored gets its end back from its transcript, in the turns that it had', async () => {
    const session = crypto.randomUUID()
    const role = (n: number) => (n % 2 ? 'user' : 'assistant')
    const line = (n: number) => claudeLine(n, role(n), `${n} ${'x'.repeat(60_000)}`, { session, end: n % 4 === 0 })
    const lines = Array.from({ length: 15 }, (_, i) => line(i + 1))
    const bring = (some = lines) => importTranscript(parley().services, bodySource(new Response(some.join('\n')).body, '', 1e9))
    const { session_id: id } = await bring()
    const read = async () =>
      (await eventsOf(parley(), id)).filter(({ type }) => type !== 'system').map((event) => [event.id, event.turn, event.terminal])
    const events = await read()
    const { database, services } = parley()
    let left = engine === 'pglite' ? 6 : 2
    const ending: typeof database = {
      ...database,
      unhurried: (...args) => (left-- > 0 ? database.unhurried(...args) : Promise.reject(new Error('ended'))),
    }
    const ended = await purge({ ...services, database: ending }, purgeArguments([id, '--yes']))
    expect(ended).toMatchObject({ purged: 0, cut_short: true, failed: 'ended' })
    const cut = (await sessionRow(parley(), id)).last_sequence
    expect([cut > 0, cut < 15]).toEqual([true, true])
    await done(call()('control.manage_session', { session_id: id, action: 'start' }, { headers: bearer(await keyOf(parley(), 'full')) }))
    await bring(lines.slice(0, 2)) // an import that does not come to the end
    expect(await bring()).toMatchObject({ session_id: id, added: 15 - cut })
    expect(await read()).toEqual(events)
    await order(id, '--yes')
  })

  test('a transaction that the database undid is begun again', async () => {
    const { id, alex } = await room(call())
    await say(alex, 'Over.')
    const { database } = parley()
    const undone = Object.assign(new Error('deadlock detected'), { code: '40P01' })
    let times = 0
    const unhurried: typeof database.unhurried = (work, ms) => (times++ % 2 === 0 ? Promise.reject(undone) : database.unhurried(work, ms))
    const services = { ...parley().services, database: { ...database, unhurried } } as unknown as Services
    expect(await purge(services, purgeArguments([id, '--yes']))).toMatchObject({ purged: 1 })
    expect(times).toBeGreaterThan(2)
  })

  test('by age, rooms and traces apart', async () => {
    const old = await room(call(), { title: 'Old' })
    const trace = await room(call(), { title: 'Old trace' })
    const edited = await room(call(), { title: 'Old, and edited' }) // which is no event
    await done(edited.alex('update_session_doc', { content: '# The plan', expected_version: 0 }))
    const age = (id: string, source: string) =>
      parley().database.query(`update sessions set last_event_at = now() - interval '91 days', source = $2 where id = $1`, [id, source])
    await age(old.id, 'room')
    await age(edited.id, 'room')
    await age(trace.id, 'claude-code')
    const titles = async (...words: string[]) => (await order('--older-than', ...words)).sessions.map(({ title }) => title)
    expect(await titles('90', '--rooms')).toEqual(['Old'])
    expect(await titles('90d', '--traces')).toEqual(['Old trace'])
    expect((await titles('90', '--traces', '--rooms')).toSorted()).toEqual(['Old', 'Old trace'])
    expect(await titles('92', '--rooms')).toEqual([])
    const [preview] = (await order(edited.id)).sessions
    expect(Date.now() - Date.parse(preview!.last)).toBeLessThan(86_400_000)
    await parley().database.query(`update session_doc_history set written_at = now() - interval '91 days' where session_id = $1`, [
      edited.id,
    ])
    expect((await titles('90', '--rooms')).toSorted()).toEqual(['Old', 'Old, and edited'])
    expect(await order('--older-than', '90', '--traces', '--yes')).toMatchObject({ purged: 1 })
    expect((await old.alex('get_session')).ok).toBe(true)
    expect((await trace.alex('get_session')).body.code).toBe('unauthorized')
  })

  test('one that is found by its age stays where somebody has spoken in it before its turn comes', async () => {
    const { database } = parley()
    const { id, alex } = await room(call(), { title: 'Woken' })
    await say(alex, 'Long ago.')
    await database.query(`update sessions set last_event_at = now() - interval '400 days' where id = $1`, [id])
    // The embedded database has one connection: there it speaks between the two readings of its age.
    const spoken = `update sessions set last_event_at = now() where id = '${id}'`
    const release = engine === 'postgres' ? await holdLock(database, spoken) : undefined
    const unhurried = database.unhurried
    let first = true
    const services = {
      ...parley().services,
      database: {
        ...database,
        unhurried: async (work: Parameters<typeof unhurried>[0], ms: number) => {
          if (!first && !release) await database.query(spoken)
          first = false
          return unhurried(work, ms)
        },
      },
    } as unknown as Services
    const purging = purge(services, purgeArguments(['--older-than', '300', '--rooms', '--yes']))
    if (release) {
      await soon('it waits for the session', async () => (await waitingForLocks(database)) > 0)
      await release()
    }
    const { sessions, purged } = await purging
    expect([sessions.map((one) => one.id), purged]).toEqual([[id], 0])
    expect((await done(alex('get_history'))).messages.at(-1).content.text).toBe('Long ago.')
    expect(await order(id, '--yes')).toMatchObject({ purged: 1 })
  })
})

test.each([
  [[]],
  [['x']],
  [['--older-than', '90']],
  [['--rooms']],
  [['--older-than', '0', '--rooms']],
  [['--older-than', 'x', '--rooms']],
  [['--force']],
])('purge %p is told how it is used', (words) => expect(() => purgeArguments(words)).toThrow('bun run purge'))

/** The tables that have a row with this session's id. */
const rowsAbout = async ({ database }: Parley, id: string): Promise<string[]> => {
  const tables = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  )
  const having: string[] = []
  for (const { name } of tables) {
    if (TABLES_WITHOUT.includes(name)) continue
    const [row] = await database.query<{ n: number }>(`select count(*)::int as n from "${name}" t where row_to_json(t)::text like $1`, [
      `%${id}%`,
    ])
    if (row!.n > 0) having.push(name)
  }
  return having
}

const indexOf = async ({ database }: Parley) => ({
  corpus: await database.query('select events, length from search_corpus'),
  terms: await database.query(
    `select term, events, case when levels <> '{0,0,0,0,0}' then levels::text end as levels from search_terms order by term`,
  ),
})
