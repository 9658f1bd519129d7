import { expect, test } from 'bun:test'
import { eventKinds } from '../../src/rooms/event-kinds.ts'
import { done, feedOf, onOneEngine, room, say, viaMcp, viaRest } from '../support/parley.ts'

interface Fields {
  event?: string
  acknowledged_by?: string[]
}

/** The events of a stream or a file, one a line. */
const parsed = async (response: Response): Promise<Fields[]> =>
  (await response.text()).split('\n').flatMap((line) => {
    const json = line.replace(/^data: /, '')
    return json.startsWith('{') ? [JSON.parse(json)] : []
  })

onOneEngine((parley) => {
  test('a change has the same bytes over REST, MCP, the stream and the export, from memory and from the table: `from` before `to`', async () => {
    const { id, alex } = await room(viaRest(parley()))
    await done(alex('update_session_metadata', { title: 'Two parsers', description: 'One each.', reason: 'One is not enough.' }))
    await done(alex('conclude_session', { summary_section: 'Both ship.' }))
    const other = await parley().beside({}) // has nothing of this session in memory
    const team = { team: alex.token }
    const wait = { session_id: id, since_cursor: 0, timeout: 0 }
    const doors = [parley(), other].flatMap((served) => [
      async () => (await done(viaRest(served)('wait_for_messages', wait, team))).messages,
      async () => (await done(viaMcp(served)('wait_for_messages', wait, team))).messages,
      async () => (await done(viaRest(served)('get_history', { session_id: id }, team))).messages,
      async () => parsed(await served.send(`/api/sessions/${id}/stream?after=0`, { headers: { 'x-team-id': alex.token } })),
      async () => parsed(await served.send(`/sessions/${id}/feed.jsonl`)),
    ])
    const texts: string[] = []
    for (const read of doors) {
      const found = (await read()).find(({ event }: Fields) => event === 'session_metadata_updated')
      const { acknowledged_by: _, ...event } = found // get_history alone tells it
      texts.push(JSON.stringify(event))
    }
    expect(texts).toEqual(texts.map(() => texts[0]!))
    expect(texts[0]).toContain(
      '"changes":{"title":{"from":"Shipping the parser","to":"Two parsers"},"description":{"from":"Decide what goes out.","to":"One each."}}',
    )
  })

  test('the fields of each kind are listed as answers have them', async () => {
    const { alex, bea } = await room(viaRest(parley()))
    await say(alex, 'hello')
    await done(alex('update_session_metadata', { title: 'Renamed', reason: 'why' }))
    await done(alex('transfer_convener', { to: bea.handle }))
    await done(bea('conclude_session', { summary_section: 'end' }))
    await done(bea('reopen_session', { reason: 'more' }))
    await done(alex('leave_session'))
    const events = (await feedOf(bea)).filter(({ type }) => type === 'system')
    const fields = Object.fromEntries(
      events.map(({ id: _, sequence: __, type: ___, at: ____, event, ...own }) => [event, Object.keys(own)]),
    )
    expect(fields).toEqual(Object.fromEntries(eventKinds.map((kind) => [kind.name, Object.keys(kind.fields)])))
  })
})
