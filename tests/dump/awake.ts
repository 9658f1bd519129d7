// Keys, people, invitations, and a team that sleeps while it is asked something.
import { linkForPerson } from '../../src/process/sign-ins.ts'
import { keyOf, verifiedCookie } from '../support/keys.ts'
import { done, room, say, soon } from '../support/parley.ts'
import type { Scene } from './leave.ts'

export const leave = async ({ parley, call, keep }: Scene) => {
  const keys = { full: await keyOf(parley, 'full'), read: await keyOf(parley, 'read'), revoked: await keyOf(parley, 'full') }
  await parley.database.query('update keys set revoked_at = now() where prefix = $1', [keys.revoked.slice(0, 'ca_full_'.length + 8)])
  const vera = await verifiedCookie(parley, 'Vera')
  const { token } = await linkForPerson(parley.services, 'Olga')

  const { id: session_id, alex, bea } = await room(call)
  const invitation = await keep('create_invitation', { session_id, joins: 3, days: 7 }, { person: true })
  const { cursor: after } = await say(alex, 'Before Bea sleeps.')
  await done(bea('wait_for_messages', { timeout: 0 }))
  const asleep = done(bea('peek', { timeout: 30, after }))
  await soon('it is held', () => parley.services.peeks.held === 1, 20)
  const question = await keep(
    'post_message',
    { session_id, content: { text: 'Who takes the lexer?' }, to: [bea.handle], expects_reply: true },
    { team: alex.token },
  )
  await asleep
  return { session_id, alex: alex.token, bea: bea.token, after, question, keys, vera, link: `${token.handle}.${token.secret}`, invitation }
}
