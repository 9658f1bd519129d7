// A server that answers to any host name steers no agents: a foreign web page could do it in a visitor's name.
import { expect, test } from 'bun:test'
import { bearer, keyOf } from '../../support/keys.ts'
import { done, onOneEngine, refused, room, viaMcp, viaRest } from '../../support/parley.ts'

onOneEngine((parley) => {
  test('open to other machines it serves control once ALLOWED_HOSTS says by which names it is reached, and rooms before', async () => {
    const open = await parley().beside({ HOST: '0.0.0.0', ACCESS_TOKEN: 'an-access-token-of-some-length' })
    const key = await keyOf(open, 'full')
    for (const via of [viaRest(open), viaMcp(open)]) {
      const { message } = await refused(via('control.list_sessions', {}, { headers: bearer(key) }), 'forbidden')
      expect(message).toContain('ALLOWED_HOSTS')
    }
    const run = await keyOf(open, 'run')
    await refused(viaRest(open)('control.register_runner', { name: 'r', agents: [], worktrees: [] }, { headers: bearer(run) }), 'forbidden')
    await room((name, input, as) => viaRest(open)(name, input, { ...as, headers: bearer(key) }))

    const named = await parley().beside({
      HOST: '0.0.0.0',
      ACCESS_TOKEN: 'an-access-token-of-some-length',
      ALLOWED_HOSTS: 'hub.example.org,127.0.0.1:7423',
    })
    await done(viaRest(named)('control.list_sessions', {}, { headers: bearer(key) }))
  })
})
