// The search of the pages: by times, by authors, and sessions by their titles and documents.
import { describe, expect, test } from 'bun:test'
import { history } from '../../bench/corpus.ts'
import { perform } from '../../src/operations/perform.ts'
import { eventTypeNumber } from '../../src/core/events/event-types.ts'
import { searchEverything } from '../../src/history/page-search.ts'
import { findEvents, parseQuery } from '../../src/search/ranking.ts'
import { indexedSession } from '../../src/search/session-index.ts'
import { FULL } from '../support/full.ts'
import { sessionsIndexed, trace, type Step } from '../support/history.ts'
import { cookieOf, done, onEveryEngine, room, soon, viaRest } from '../support/parley.ts'

const DAY = '2026-03-01T00:00:00.000Z'
const NEXT_DAY = '2026-03-02T00:00:00.000Z'

onEveryEngine((parley, engine) => {
  const word = () => `w${crypto.randomUUID().replaceAll('-', '')}`
  const search = async (input: Record<string, unknown>): Promise<any> => {
    const outcome = await perform(searchEverything, parley().services, { signal: () => new AbortController().signal }, input)
    if (!outcome.ok) throw new Error(JSON.stringify(outcome.error) + parley().logged.at(-1))
    return outcome.data
  }
  const hits = async (input: Record<string, unknown>): Promise<string[]> => (await search(input)).data.results.map(({ id }: any) => id)
  const sessions = async (query: string, more = {}): Promise<any[]> =>
    (await search({ query, sessions: 50, hits: 0, ...more })).data.sessions
  const settled = () => sessionsIndexed(parley())
  const call = () => viaRest(parley())

  describe('authors', () => {
    test('a team is found by its name, in one session and in all', async () => {
      const said = word()
      const { id, alex, bea } = await room(call())
      const theirs = await done(bea('post_message', { content: said }))
      await done(alex('post_message', { content: said }))
      const other = await room(call())
      const again = await done(other.bea('post_message', { content: said }))
      await settled()
      const ids = [again, theirs].map(({ message_id }) => `event:${message_id}`)
      expect(await hits({ query: said, by: "Bea's Team" })).toEqual(ids)
      expect(await hits({ query: said, by: "Bea's Team", session: id })).toEqual([ids[1]!])
      expect(await hits({ query: said, by: "Chidi's Team" })).toEqual([])
      expect((await hits({ query: said })).length).toBe(3)
    })

    test('a person is found by name, and the agent of a transcript', async () => {
      const said = word()
      const { id } = await room(call())
      const robin = await cookieOf(parley(), { name: 'Robin', role: 'person' } as never)
      const { body } = await call()('post_message', { session_id: id, content: said }, { person: robin })
      const { events } = await trace(parley(), [[{ type: 'assistant_response', text: said }]])
      await parley().database.query(`update events set author_name = 'Codex' where id = $1`, [events[0]!.slice('event:'.length)])
      await settled()
      expect(await hits({ query: said, by: 'Robin' })).toEqual([`event:${body.message_id}`])
      expect(await hits({ query: said, by: 'Codex' })).toEqual(events)
      // A team of that name, as the one of a driven session is, hides no transcript.
      const named = await done(call()('join_session', { session_id: id, team_name: 'Codex' }))
      const theirs = await done(call()('post_message', { session_id: id, content: said }, { team: named.team_id }))
      await settled()
      expect((await hits({ query: said, by: 'Codex' })).toSorted()).toEqual([...events, `event:${theirs.message_id}`].toSorted())
    })
  })

  test('beyond the first page there is a second one, without gap or repeat', async () => {
    const said = word()
    const { events } = await trace(parley(), [Array.from({ length: 70 }, () => ({ type: 'user_input', text: said }))])
    await settled()
    const [first, second] = [await search({ query: said }), await search({ query: said, offset: 50 })]
    expect([first.data.total, first.data.more, second.data.total, second.data.more]).toEqual([50, true, 70, false])
    expect([...first.data.results, ...second.data.results].map(({ id }: any) => id)).toEqual(events.toReversed())
    expect((await search({ query: said, hits: 5 })).data).toMatchObject({ total: 50, more: true, results: { length: 5 } })
  })

  describe('sessions', () => {
    test('are found by title, description and document, the title first, with a line around the word', async () => {
      const said = word()
      const inTitle = await room(call(), { title: `About ${said}` })
      const described = await room(call(), { description: `All that concerns ${said}, and more.` })
      const written = await room(call())
      const text = `# Notes\n\n${'Something else. '.repeat(100)}\n\n## Decisions\n\n- We take **${said}** from now on.\n`
      await done(written.alex('update_session_doc', { content: text, expected_version: 0 }))
      await settled()
      const found = await sessions(said)
      expect(found.map(({ id }) => id).toSorted()).toEqual([inTitle.id, described.id, written.id].toSorted())
      expect(found[0]).toMatchObject({ id: inTitle.id, place: 'description' })
      expect(found.find(({ id }) => id === described.id)).toMatchObject({
        place: 'description',
        snippet: `All that concerns ${said}, and more.`,
      })
      const hit = found.find(({ id }) => id === written.id)
      expect(hit).toMatchObject({ place: 'document', title: 'Shipping the parser', completed: false })
      expect(hit.snippet).toContain(`We take ${said} from now on.`)
      expect(hit.snippet.length).toBeLessThan(300)
    })

    test('are quoted where a document has the word, not where another word has it within', async () => {
      const said = word()
      const { id, alex } = await room(call())
      const text = `# Notes\n\nIm${said}ant.\n\n${'Something else. '.repeat(200)}\n\n- The ${said} is 8080.\n`
      await done(alex('update_session_doc', { content: text, expected_version: 0 }))
      await settled()
      const [hit] = await sessions(said)
      expect(hit).toMatchObject({ id, place: 'document' })
      expect(hit.snippet).toContain(`The ${said} is 8080.`)
    })

    test('are quoted by their description where it has more of the words than the document', async () => {
      const [one, two] = [word(), word()]
      const { id, alex } = await room(call(), { title: `The ${one}`, description: `Which ${one} the ${two} takes.` })
      const quoted = { id, place: 'description', snippet: `Which ${one} the ${two} takes.` }
      await done(alex('update_session_doc', { content: `Im${one}ant: ship on Monday.`, expected_version: 0 }))
      await settled()
      expect(await sessions(one)).toMatchObject([quoted])
      await done(alex('update_session_doc', { content: `The ${two} ships on Monday.`, expected_version: 1 }))
      await settled()
      expect(await sessions(`${one} ${two}`)).toMatchObject([quoted])
    })

    test('are found before anything was said, when imported, and within a second', async () => {
      const said = word()
      const { session_id } = await done(
        call()('create_session', { title: `Plan ${said}`, description: 'Soon.', creator_team_name: "Alex's Team" }),
      )
      await soon('the title is found', async () => (await sessions(said)).length === 1)
      expect((await sessions(said))[0]).toMatchObject({ id: session_id })
      const imported = await trace(parley(), [[{ type: 'user_input', text: 'hello' }]], { title: `Run ${said}`, from: DAY })
      await settled()
      expect((await sessions(said)).map(({ id }) => id).toSorted()).toEqual([session_id, imported.id].toSorted())
      expect((await sessions(said, { from: DAY, before: NEXT_DAY })).map(({ id }) => id)).toEqual([imported.id])
      expect((await sessions(said, { session: session_id })).map(({ id }) => id)).toEqual([session_id])
    })

    test('a document is found by its new words and not by its old ones, and so is a title', async () => {
      const [before, after, title] = [word(), word(), word()]
      const { id, alex } = await room(call())
      const found = async (query: string) => (await sessions(query)).map((hit) => hit.id)
      await done(alex('update_session_doc', { content: `Only ${before}.`, expected_version: 0 }))
      await soon('the first version is found', async () => (await found(before)).length === 1)
      await done(alex('update_session_doc', { content: `Only ${after}.`, expected_version: 1 }))
      await done(alex('update_session_metadata', { title: `Now ${title}`, reason: 'It is another matter.' }))
      await soon('the second one is found', async () => (await found(after)).length === 1 && (await found(title)).length === 1)
      expect([await found(before), await found(after)]).toEqual([[], [id]])
      const summary = word()
      await done(alex('conclude_session', { summary_section: `We ship ${summary}.` }))
      await soon('the conclusion is found', async () => (await found(summary)).length === 1)
      expect((await sessions(summary))[0]).toMatchObject({ id, completed: true, place: 'document' })
    })

    test('must have most of what is asked for; words that all have do not count', async () => {
      const [one, two] = [word(), word()]
      const both = await room(call(), { title: `The ${one} of ${two}` })
      await room(call(), { title: `The ${one} alone` })
      await settled()
      expect((await sessions(`${one} ${two}`)).map(({ id }) => id)).toEqual([both.id])
      expect(await sessions(`${word()} nobody wrote`)).toEqual([])
    })

    test('by a name in a document it is found whole and by its parts, and no typo is spoken of', async () => {
      const part = `q${word().slice(1, 9)}`.replaceAll(/\d/g, 'x')
      const { id, alex } = await room(call())
      await done(alex('update_session_doc', { content: `See src/${part}/latticeKernel.ts.`, expected_version: 0 }))
      await settled()
      for (const query of [`src/${part}/latticeKernel.ts`, `${part} lattice`, part])
        expect([query, (await sessions(query)).map((hit) => hit.id)]).toEqual([query, [id]])
      expect((await search({ query: part, sessions: 5 })).warnings).toEqual([])
    })

    test.skipIf(engine === 'pglite' && !FULL)(
      'every word of the longest document is searched',
      async () => {
        const { id, alex } = await room(call())
        const [middle, last] = [word(), word()]
        const half = 'Some lines of text about the parser.\n'.repeat(6_500)
        await done(alex('update_session_doc', { content: `${half}${middle}\n${half}${last}`, expected_version: 0 }))
        await settled()
        for (const query of [middle, last]) {
          const [hit] = await sessions(query)
          expect(hit).toMatchObject({ id, place: 'document' })
          expect(hit.snippet).toContain(query)
        }
      },
      180_000,
    )

    test.skipIf(engine === 'pglite' && !FULL)(
      'the rebuilt index finds the same, and one that was removed is gone from it',
      async () => {
        const said = word()
        const kept = await room(call(), { title: `Kept ${said}` })
        const { alex } = kept
        // Long enough that the session rests after it was indexed: what is thrown away must be made again all the same.
        await done(
          alex('update_session_doc', {
            content: `More of ${said}.\n${'Some lines of text about the parser.\n'.repeat(12_000)}`,
            expected_version: 0,
          }),
        )
        const gone = await trace(parley(), [[{ type: 'user_input', text: 'hello' }]], { title: `Gone ${said}` })
        await settled()
        const before = await sessions(said)
        expect(before.length).toBe(2)
        await parley().services.indexer.rebuild(() => {})
        expect(await sessions(said)).toEqual(before)
        await parley().database.query('delete from sessions where id = $1', [gone.id])
        expect((await sessions(said)).map(({ id }) => id)).toEqual([kept.id])
      },
      120_000,
    )
  })

  test('a credential in a query is refused, and what is asked in a wrong way', async () => {
    const { alex } = await room(call())
    const code = async (input: Record<string, unknown>) => {
      const outcome = await perform(searchEverything, parley().services, { signal: () => new AbortController().signal }, input)
      return outcome.ok ? 'ok' : outcome.error.code
    }
    expect(await code({ query: `who has ${alex.token}?` })).toBe('secret_in_text')
    expect(await code({ query: 'x', by: alex.token })).toBe('secret_in_text')
    expect(await code({ query: ' ' })).toBe('invalid_request')
    expect(await code({ query: 'x', from: 'yesterday' })).toBe('invalid_request')
    expect(await code({ query: 'x', offset: 201 })).toBe('invalid_request')
    expect(await code({ query: 'x', types: ['gossip'] })).toBe('unsupported_event_type')
  })

  test.skipIf(engine === 'pglite' && !FULL)(
    'a document made to be more than the index holds goes in nevertheless',
    async () => {
      const { tsv } = indexedSession({
        title: 'Rich',
        description: '',
        content: Array.from({ length: 80_000 }, (_, i) => `${i.toString(36)}é/ß${i}`).join(' '),
      })
      const [row] = await parley().database.query<{ n: number }>('select length($1::tsvector) as n', [tsv])
      expect(row!.n).toBeGreaterThan(50_000)
    },
    180_000,
  )

  // Last, since they leave many events.
  describe('times', () => {
    test('choose what is searched, to the millisecond', async () => {
      const said = word()
      const { events } = await trace(parley(), [Array.from({ length: 4 }, () => ({ type: 'user_input', text: said }))], { from: DAY })
      await settled()
      const at = (second: number) => new Date(Date.parse(DAY) + second * 1000).toISOString()
      expect(await hits({ query: said, from: at(1), before: at(3) })).toEqual([events[2]!, events[1]!])
      expect(await hits({ query: said, from: at(3) })).toEqual([events[3]!])
      expect(await hits({ query: said, before: at(1) })).toEqual([events[0]!])
      expect(await hits({ query: said, from: at(4) })).toEqual([])
    })

    test('of a long session among very many others, a kind with one event is found there', async () => {
      const said = word()
      const text = `${'padding '.repeat(300)} ${said}`
      const { id, events } = await trace(parley(), [
        [
          { type: 'user_input', text: said },
          { type: 'reasoning', text },
        ],
      ])
      await settled()
      let found: { id: string }[] = []
      const asIf = parley().database.transaction(async (tx) => {
        // As if it were one of hundreds of such sessions, whose common word this is.
        await tx.query('update search_corpus set events = 10000000')
        await tx.query('update session_index set indexed_sequence = 30000 where session_id = $1', [id])
        await tx.query(`update search_terms set events = 9000000, levels = '{8000000,500000,300000,100000,1000}' where term = $1`, [said])
        const search = { kinds: [eventTypeNumber('reasoning')], scope: { session: id }, limit: 51 }
        found = await findEvents(tx, await parseQuery(tx, said), search)
        throw new Error('undone')
      })
      await expect(asIf).rejects.toThrow('undone')
      expect(found.map(({ id }) => `event:${id}`)).toEqual([events[1]!])
    })

    test.skipIf(!FULL)(
      'of a day, a kind or an author with one event, that one is found, however many others rank before it',
      async () => {
        const said = word()
        const crowd = Array.from({ length: 5_500 }, (_, i) => ({ type: 'user_input', text: `${said} ${said} ${said} ${i}` }))
        await trace(parley(), [crowd], { from: '2026-01-01T00:00:00.000Z' })
        const lone = await trace(parley(), [[{ type: 'user_input', text: `${'padding '.repeat(300)} ${said}` }]], { from: DAY })
        await settled()
        expect((await search({ query: said })).data).toMatchObject({ total: 50, more: true })
        expect(await hits({ query: said })).not.toContain(lone.events[0]!)
        expect(await hits({ query: said, from: DAY, before: NEXT_DAY })).toEqual(lone.events)
        const thought = await trace(parley(), [[{ type: 'reasoning', text: `${'padding '.repeat(300)} ${said}` }]], { from: DAY })
        await parley().database.query(`update events set author_name = 'Codex' where id = $1`, [lone.events[0]!.slice('event:'.length)])
        await settled()
        expect(await hits({ query: said, types: ['reasoning'] })).toEqual(thought.events)
        expect(await hits({ query: said, by: 'Codex' })).toEqual(lone.events)
      },
      180_000,
    )

    if (engine === 'postgres' && FULL)
      test('a part of the index that is too large to be scored whole gives the best of its own', async () => {
        const said = word()
        const own = [...Map.groupBy(history(21_000), ({ session }) => session).values()]
        const year = '2025-06-01T00:00:00.000Z'
        for (const events of own) {
          const turns: Step[][] = [...Map.groupBy(events, ({ turn }) => turn).values()]
          await trace(parley(), turns, { from: year })
        }
        const best = await trace(parley(), [[{ type: 'user_input', text: `error ${said.slice(0, 6)} error error` }]], { from: year })
        await settled()
        const found = await search({ query: 'error', from: year, before: '2025-12-01T00:00:00.000Z' })
        expect(found.data.results[0].id).toBe(best.events[0])
        expect(found.data.total).toBe(50)
        for (const { event } of found.data.results) expect(event.timestamp < '2025-12-01' && event.timestamp >= '2025-06-01').toBe(true)
      }, 240_000)
  })
})
