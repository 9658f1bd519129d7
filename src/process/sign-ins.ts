// Signing people in and out. Whoever holds the operator key types a name; a name that is bound to a link is signed in by that link alone,
// and only who came so is verified.
import { lockText } from '../../db/advisory-locks.ts'
import type { Queries } from '../../db/database.ts'
import { refuse } from '../core/errors.ts'
import { newSecret, sha256, type Token } from '../core/ids.ts'
import { holdsSecret, LONGEST_NAME, nameIsPlain, nameKey } from '../core/text/text.ts'
import { topicOf, type Topic } from '../log/topics.ts'
import { bindName, endLink, namedPerson, useLink } from '../stores/people.ts'
import { endSignIns, findSignIns, hasSignedIn, insertSignIn, unverifiedSignIns, type SignIn } from '../stores/sign-ins.ts'
import { SIGN_IN_KIND } from './credentials.ts'
import { keysInForce } from './keys-in-force.ts'
import type { Services } from './services.ts'

const LINK_DAYS = 7
/** The name of a person who gives none. */
export const NAMELESS = 'Operator'

export const signInTopic = (id: string): Topic => topicOf(SIGN_IN_KIND, id)

type Who = Pick<SignIn, 'name' | 'role'>

/** Signs somebody in under a name that was typed. Returns the credential for the cookie. 409 for a name that is bound to a link. */
export const signInAs = (services: Services, who: Who): Promise<Token> =>
  services.database.transaction(async (tx) => {
    await lockName(tx, who.name)
    const bound = await namedPerson(tx, who.name)
    if (bound)
      refuse(
        'conflict',
        `${bound.name} signs in by a link of their own. Enter another name; if this is you, have \`bun run key person\` make you a new link.`,
        { field: 'name' },
      )
    return begin(tx, services, { ...who, verified: false })
  })

/** Signs in the person of a link, which is used up by it; undefined for a link that is unknown, used or expired. */
export const signInByLink = (services: Services, link: Token): Promise<Token | undefined> =>
  services.database.transaction(async (tx) => {
    const name = await useLink(tx, link, keysInForce(services))
    return name === undefined ? undefined : begin(tx, services, { name, role: 'person', verified: true })
  })

const begin = async (tx: Queries, services: Services, who: Who & Pick<SignIn, 'verified'>): Promise<Token> => {
  const made = { handle: crypto.randomUUID(), secret: newSecret() }
  await insertSignIn(tx, { id: made.handle, secretHash: sha256(made.secret), under: keysInForce(services), ...who })
  return made
}

/** Ends a sign-in at once, everywhere: its cookie, its held calls and its streams. `byOther`: it is not the person's own sign-out, so that a link
 *  which they keep for another browser ends with it. */
export const endSignIn = (services: Services, id: string, byOther = false): Promise<void> =>
  services.endCredentials(async (tx) => {
    const [signIn] = byOther ? await findSignIns(tx, [id]) : []
    if (signIn?.verified) await endLink(tx, signIn.name)
    return (await endSignIns(tx, [id])).map(signInTopic)
  })

/** Binds a name to a new link, which signs in once within seven days. Whoever is signed in under that name without a link is signed out.
 *  `by`: the signed-in person who asks for it, and whose link ends with the keys that sign people in; undefined: whoever runs the server, on
 *  its machine, who may replace any link. 400 for a name that cannot be one, 403 and 409 for one that is not for this person to bind. */
export const linkForPerson = async (
  services: Services,
  typed: string,
  by?: SignIn,
): Promise<{ token: Token; name: string; expiresAt: string }> => {
  const name = typed.trim()
  if (!nameIsPlain(name) || [...name].length > LONGEST_NAME)
    refuse('invalid_request', `A name has 1 to ${LONGEST_NAME} visible characters.`, { field: 'name' })
  if (holdsSecret(name)) refuse('secret_in_text', 'The name contains a token or key. Give another name.', { field: 'name' })
  if (nameKey(name) === nameKey(NAMELESS))
    refuse('invalid_request', `${NAMELESS} is what those are called who give no name. Choose another one.`, { field: 'name' })
  const token = { handle: crypto.randomUUID(), secret: newSecret() }
  let expiresAt = ''
  await services.endCredentials(async (tx) => {
    await lockName(tx, name)
    if (by) await assertMayBind(tx, name, by)
    expiresAt = (await bindName(tx, name, token, { days: LINK_DAYS, keys: by && keysInForce(services) })).linkExpiresAt
    const others = (await unverifiedSignIns(tx)).filter((signIn) => nameKey(signIn.name) === nameKey(name))
    return (
      await endSignIns(
        tx,
        others.map(({ id }) => id),
      )
    ).map(signInTopic)
  })
  return { token, name, expiresAt }
}

// A link proves who somebody is. So the operator key alone lets nobody become a person who has come by one, and who did makes more of them for
// their own other browsers alone.
const assertMayBind = async (queries: Queries, name: string, by: SignIn): Promise<void> => {
  if (by.verified && nameKey(by.name) === nameKey(name)) return
  if (by.verified)
    refuse('forbidden', `You signed in by a link, and make links for ${by.name} alone. Whoever has the operator key makes those of others.`)
  const bound = await namedPerson(queries, name)
  if (!bound || (bound.linkUsedAt === null && !(await hasSignedIn(queries, bound.name)))) return
  refuse(
    'conflict',
    `${bound.name} has signed in by a link, and makes others here; so does \`bun run key person\` on the server's machine.`,
    { field: 'name' },
  )
}

const lockName = (tx: Queries, name: string) => lockText(tx, `person/${nameKey(name)}`)
