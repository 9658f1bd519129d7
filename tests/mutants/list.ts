// Faults that somebody could make, by hand-picked place: each breaks one promise and must fail one of its tests.
import { CONTROL } from './control.ts'
import { RECORDS } from './records.ts'

export interface Mutant {
  name: string
  breaks: string
  file: string
  /** A text that stands in the file once. */
  from: string
  to: string
  tests: string[]
}

const tests = (...names: string[]) => names.map((name) => `tests/${name}.test.ts`)

const STATEMENTS = 'src/log/append-sql.ts'
const HEADS = 'src/log/log-heads.ts'
const GROUP_COMMIT = 'src/log/group-commit.ts'
const BATCH_WRITER = 'src/log/batch-writer.ts'
const LOG_READER = 'src/log/log-reader.ts'
const WAIT = 'src/rooms/feed/team-wait.ts'
const MISSED = 'src/log/missed.ts'
const SPEECH = 'src/stores/speech.ts'
const PEEK = 'src/rooms/feed/team-peek.ts'
const WAKES = 'src/stores/wakes.ts'
const NOTIFIER = 'src/log/notifier.ts'
const PERFORM = 'src/operations/perform.ts'
const TRANSACTION = 'src/operations/transaction.ts'
const GUARDS = 'src/doors/http/guards.ts'
const TEXT = 'src/core/text/text.ts'
const REVISION = 'src/doors/mcp/revision-2026-07.ts'

const LOG: Mutant[] = [
  {
    name: 'log: a closed session takes posts',
    breaks: 'after a conclusion nothing is said until the session is reopened',
    file: STATEMENTS,
    from: `when (h.status = 'closed' or`,
    to: `when (false or`,
    tests: tests('stores/log', 'conformance/closing'),
  },
  {
    name: 'log: an archived session takes posts',
    breaks: 'once archived, a session takes nothing until it is brought back',
    file: STATEMENTS,
    from: `or h.archived_at is not null)`,
    to: `or false)`,
    tests: tests('conformance/control/managing'),
  },
  {
    name: 'log: a team that has left posts',
    breaks: 'a token ends when its team leaves',
    file: STATEMENTS,
    from: `(m.team_id is null or m.left_at is not null)`,
    to: `(m.team_id is null)`,
    tests: tests('stores/log', 'stores/group-commit'),
  },
  {
    name: 'log: a post is checked against what was there before the lock',
    breaks: 'what decides about a post is read under the lock',
    file: STATEMENTS,
    from: `when h.last_sequence <> s.last_sequence then 'moved'`,
    to: `when false then 'moved'`,
    tests: tests('stores/log', 'stores/group-commit'),
  },
  {
    name: 'log: a retried post is written again',
    breaks: 'a write with a key is applied once',
    file: STATEMENTS,
    from: `when i.key_hash is not null then 'replayed'`,
    to: `when false then 'replayed'`,
    tests: tests('conformance/idempotency'),
  },
  {
    name: 'log: the clock decides alone',
    breaks: 'times never run against the sequence',
    file: STATEMENTS,
    from: `select *, greatest(last_event_at, clock_timestamp())::timestamptz(3) as at from (`,
    to: `select *, clock_timestamp()::timestamptz(3) as at from (`,
    tests: tests('stores/log', 'stores/group-commit'),
  },
  {
    name: 'log: a prompt opens no turn',
    breaks: 'turns are numbered by what was said',
    file: STATEMENTS,
    from: `or type = 'user_input'`,
    to: `or false`,
    tests: tests('stores/log'),
  },
  {
    name: 'head: a post with a key is appended optimistically',
    breaks: 'a write with a key is applied once',
    file: HEADS,
    from: `if (!head || idempotency || credentialId`,
    to: `if (!head || credentialId`,
    tests: tests('stores/group-commit', 'conformance/idempotency'),
  },
  {
    name: 'head: a post that came with a sign-in or key is appended optimistically',
    breaks: 'what is signed out writes nothing any more',
    file: HEADS,
    from: `|| credentialId !== undefined || holder`,
    to: `|| holder`,
    tests: tests('conformance/sign-ins'),
  },
  {
    name: 'head: a team that was never seen is appended optimistically',
    breaks: 'only those who are present post',
    file: HEADS,
    from: `return teamId === undefined || head.names.has(teamId) ? head : undefined`,
    to: `return head`,
    tests: tests('stores/group-commit', 'conformance/credentials'),
  },
  {
    name: 'head: who was present before the log grew elsewhere still is',
    breaks: 'a token ends when its team leaves',
    file: HEADS,
    from: `const names = known?.names ?? `,
    to: `const names = before?.names ?? `,
    tests: tests('stores/group-commit'),
  },
  {
    name: 'head: another author opens no turn',
    breaks: 'a turn is the same however a post was written',
    file: HEADS,
    from: `const opens = draft.type === 'user_input' || holder !== head.holder`,
    to: `const opens = draft.type === 'user_input'`,
    tests: tests('stores/group-commit', 'stores/log'),
  },
  {
    name: 'group commit: a post is sent although its caller was told that it failed',
    breaks: 'what was answered with a time-out before it was sent is never written',
    file: GROUP_COMMIT,
    from: `if (isLate(pending)) {`,
    to: `if (false) {`,
    tests: tests('stores/group-commit'),
  },
  {
    name: 'group commit: a held session stays in the shared lane',
    breaks: 'a session that somebody holds holds up no other',
    file: GROUP_COMMIT,
    from: `outcomes[i]!.outcome === 'held' && this.#held.add(draft.sessionId)`,
    to: `outcomes[i]!.outcome === 'held' && draft`,
    tests: tests('stores/group-commit'),
  },
  {
    name: 'group commit: a post of unknown outcome is tried again',
    breaks: 'a post is written once',
    file: BATCH_WRITER,
    from: `if (isLockTimeout(error) || !isRefused(error) || (posts.length === 1 && tries === 1))`,
    to: `if (isLockTimeout(error) || (posts.length === 1 && tries === 1))`,
    tests: tests('stores/group-commit', 'faults/appends', 'faults/cut'),
  },
]

const WAITS: Mutant[] = [
  {
    name: 'wait: the log reader subscribes after it has read',
    breaks: 'no event between the look and the wait is missed',
    file: LOG_READER,
    from: `        const next = this.services.waiters.subscribe(this.sessionId) // before reading, or what lands in between is missed
        this.#waiter.unsubscribe()
        this.#waiter = next
        const page = await this.#read()
`,
    to: `        const page = await this.#read()
        const next = this.services.waiters.subscribe(this.sessionId)
        this.#waiter.unsubscribe()
        this.#waiter = next
`,
    tests: tests('stores/log-reader'),
  },
  {
    name: 'wait: who sees more than the others wakes nobody',
    breaks: 'a lost notification is made good by the next reader',
    file: 'src/log/waiters.ts',
    from: `else if (newest > this.#subscribed.newestWoken) wakeEach(this.#subscribed, newest)`,
    to: `else if (newest > this.#subscribed.newestWoken) this.#subscribed.newestWoken = newest`,
    tests: tests('quick/waiters'),
  },
  {
    name: 'wait: the sweep wakes nobody',
    breaks: 'a lost notification costs five seconds at most',
    file: 'src/process/jobs.ts',
    from: `if (woken !== undefined && last_sequence > woken) onGrown(id, last_sequence)`,
    to: `void [woken, onGrown]`,
    tests: tests('stores/log'),
  },
  {
    name: 'wait: closed comes before the last page',
    breaks: 'session_closed comes with the last messages',
    file: WAIT,
    from: `const session_closed = this.#closed && !hasMore`,
    to: `const session_closed = this.#closed`,
    tests: tests('conformance/closing', 'conformance/feed'),
  },
  {
    name: 'wait: what a caller that has gone was not given counts as delivered',
    breaks: 'a lost answer loses no message',
    file: WAIT,
    from: `if (!gone) this.#poll.advance(`,
    to: `this.#poll.advance(`,
    tests: tests('conformance/rest'),
  },
  {
    name: 'wait: what was not addressed to the team is read',
    breaks: 'with only "addressed" the rest stays unread',
    file: WAIT,
    from: `if (!addressedOnly) this.#poll.advance({ seen: this.since })`,
    to: `this.#poll.advance({ seen: this.since })`,
    tests: tests('conformance/addressed'),
  },
  {
    name: 'wait: another instance does not know what was delivered',
    breaks: 'a wait without a cursor continues where the last one ended',
    file: WAIT,
    from: `if (options.since === undefined && events.length > 0 && !gone)`,
    to: `if (false)`,
    tests: tests('stores/delivered-cursor'),
  },
  {
    name: 'wait: a team holds as many as it likes',
    breaks: 'at most 32 waits of a team are held',
    file: WAIT,
    from: `if (this.#poll.ofTeam > WAITS_OF_A_TEAM) {`,
    to: `if (false) {`,
    tests: tests('conformance/limits', 'conformance/feed'),
  },
  {
    name: 'wait: a cursor goes back',
    breaks: 'what a team has read only ever goes forward',
    file: 'src/core/presence.ts',
    from: `entry.deliveredCursor = Math.max(entry.deliveredCursor, seen, delivered)`,
    to: `entry.deliveredCursor = Math.max(seen, delivered)`,
    tests: tests('quick/presence'),
  },
  {
    name: 'wait: events in memory have a gap',
    breaks: 'a reader never skips',
    file: 'src/log/recent-events.ts',
    from: `if (!held || events[0]!.sequence > last + 1)`,
    to: `if (!held)`,
    tests: tests('quick/recent-events'),
  },
  {
    name: 'wait: events in memory end before what is committed',
    breaks: 'after a post every answer has it',
    file: 'src/log/recent-events.ts',
    from: `events.at(-1)!.sequence < Math.max(newest, cursor + 1)`,
    to: `events.at(-1)!.sequence < cursor + 1`,
    tests: tests('quick/recent-events'),
  },
  {
    name: 'wait: a page has no end',
    breaks: 'a page holds at most 500 events and 256 KiB',
    file: 'src/stores/events.ts',
    from: `where bytes <= \${PAGE_BYTES}`,
    to: `where bytes <= 10 * \${PAGE_BYTES}`,
    tests: tests('stores/event-pages', 'conformance/feed', 'conformance/limits'),
  },
  {
    name: 'wait: who a team is outlives what the session does',
    breaks: 'a token ends when its team leaves',
    file: 'src/log/recent-lookups.ts',
    from: `this.#bySession.delete(session)`,
    to: ``,
    tests: tests('quick/recent-lookups'),
  },
]

const CROSSING: Mutant[] = [
  {
    name: 'crossing: expected_cursor is ignored where a post is appended optimistically',
    breaks: 'nothing of others lies between a post and the cursor that it expects',
    file: HEADS,
    from: `if (expectedCursor !== undefined && !isReadUpTo(head, holder, expectedCursor)) return undefined`,
    to: ``,
    tests: tests('conformance/crossing'),
  },
  {
    name: 'crossing: a log whose past is unknown counts as silent',
    breaks: 'nothing of others lies between a post and the cursor that it expects',
    file: HEADS,
    from: `(expectedCursor ?? sequence - 1)`,
    to: `(expectedCursor ?? 0)`,
    tests: tests('conformance/crossing'),
  },
  {
    name: 'crossing: who spoke before the last one is forgotten',
    breaks: 'nothing of others lies between a post and the cursor that it expects',
    file: HEADS,
    from: `(next === holder ? others : sequence)`,
    to: `others`,
    tests: tests('conformance/crossing'),
  },
  {
    name: 'crossing: posts of one batch do not see each other',
    breaks: 'of several that expect the same, one is written',
    file: GROUP_COMMIT,
    from: ` || expectsSilenceOf(taken, pending)`,
    to: ``,
    tests: tests('conformance/crossing'),
  },
  {
    name: 'crossing: a team’s own posts count as those of others',
    breaks: 'nobody is held up by what it said itself',
    file: SPEECH,
    from: `is distinct from \${holder})`,
    to: `is not null)`,
    tests: tests('conformance/crossing', 'stores/missed'),
  },
  {
    name: 'crossing: another title is no news',
    breaks: 'a change of title or description is read before a post that expects none',
    file: SPEECH,
    from: `or (\${e}.type = 'system' and`,
    to: `or (false and`,
    tests: tests('conformance/crossing'),
  },
  {
    name: 'crossing: a refusal is kept under its key',
    breaks: 'a refused post can be sent again under the same key',
    file: STATEMENTS,
    from: `from numbered where outcome = 'appended' and key_hash is not null`,
    to: `from numbered where outcome in ('appended', 'unread') and key_hash is not null`,
    tests: tests('conformance/crossing'),
  },
  {
    name: 'crossing: what a refusal handed out is delivered again',
    breaks: 'the page of a refusal counts as delivered',
    file: 'src/rooms/feed/crossing.ts',
    from: `{ seen: cursor, delivered: next_cursor }`,
    to: `{ seen: cursor, delivered: cursor }`,
    tests: tests('conformance/crossing'),
  },
  {
    name: 'missed: a team’s own post counts',
    breaks: 'missed is what others said',
    file: MISSED,
    from: `earlier.missed + sequence - earlier.sequence - 1`,
    to: `earlier.missed + sequence - earlier.sequence`,
    tests: tests('conformance/crossing', 'stores/missed'),
  },
  {
    name: 'missed: another instance’s deliveries are not asked for',
    breaks: 'missed is what no instance has delivered',
    file: MISSED,
    from: ` && !this.mayHavePeers())`,
    to: `)`,
    tests: tests('stores/missed'),
  },
  {
    name: 'others: a wait returns what the team did itself',
    breaks: 'a wait for others is not ended by the team’s own doing',
    file: WAIT,
    from: `return whoseIs(event) === this.member.teamId`,
    to: `return false && whoseIs(event) === this.member.teamId`,
    tests: tests('conformance/others'),
  },
  {
    name: 'others: a held wait says the version that the document had when it began',
    breaks: 'doc_version is no older than any write that was answered before',
    file: WAIT,
    from: `services.docVersion(member.session.id, member.session.docVersion)`,
    to: `member.session.docVersion`,
    tests: tests('conformance/others'),
  },
]

const NOTIFIER_MUTANTS: Mutant[] = [
  {
    name: 'topic: nobody listens to those of a kind',
    breaks: 'a wing is called when one of its topics moves elsewhere',
    file: 'src/process/publish.ts',
    from: `if (parts) for (const listener`,
    to: `if (parts && false) for (const listener`,
    tests: tests('stores/notifier'),
  },
  {
    name: 'notifier: an instance that says hello is not answered',
    breaks: 'a newcomer knows that it is not alone',
    file: NOTIFIER,
    from: `if (message === HELLO) void this.#trySend(HERE)`,
    to: ``,
    tests: tests('stores/notifier'),
  },
  {
    name: 'notifier: other instances are told nothing',
    breaks: 'a message wakes those who wait at another instance',
    file: 'src/process/publish.ts',
    from: `notifier?.notify(topic, newest)`,
    to: ``,
    tests: tests('stores/notifier'),
  },
  {
    name: 'notifier: notifications of others wake nobody',
    breaks: 'a message wakes those who wait at another instance',
    file: 'src/process/services.ts',
    from: `publisher.onMoved(topic, newest)`,
    to: `void [topic, newest]`,
    tests: tests('stores/notifier'),
  },
]

const IDEMPOTENCY: Mutant[] = [
  {
    name: 'key: another body under the same key is answered as the first',
    breaks: 'a key that is used again for something else is refused',
    file: 'src/operations/idempotency.ts',
    from: `if (before.operation === now.operation && before.bodyHash === now.bodyHash) return`,
    to: `if (before.operation === now.operation) return`,
    tests: tests('conformance/idempotency'),
  },
  {
    name: 'key: two teams share their keys',
    breaks: 'a key belongs to its caller',
    file: 'src/operations/idempotency.ts',
    from: `caller: caller.id,`,
    to: `caller: '',`,
    tests: tests('conformance/idempotency'),
  },
  {
    name: 'key: an answer is not remembered',
    breaks: 'a write with a key is applied once',
    file: TRANSACTION,
    from: `  if (idempotency) {
    const`,
    to: `  if (idempotency && false) {
    const`,
    tests: tests('conformance/idempotency'),
  },
  {
    name: 'key: a replay comes after the state',
    breaks: 'a retry is answered also after its team has left',
    file: TRANSACTION,
    from: `const before = idempotency && (await findAnswer(tx, idempotency))`,
    to: `if (caller.ended) unauthorized()
  const before = idempotency && (await findAnswer(tx, idempotency))`,
    tests: tests('conformance/idempotency'),
  },
  {
    name: 'key: a credential is kept in the answer',
    breaks: 'a credential is stored as a hash alone',
    file: TRANSACTION,
    from: `answer: withoutCredential(asked, idempotency, data)`,
    to: `answer: data`,
    tests: tests('conformance/idempotency', 'conformance/credentials'),
  },
]

const PERMISSIONS: Mutant[] = [
  {
    name: 'may: any team concludes',
    breaks: 'CONVENER_ONLY keeps others from it',
    file: 'src/rooms/who-may.ts',
    from: `if (!acts?.includes(act)) return`,
    to: `return`,
    tests: tests('conformance/switches', 'conformance/convener'),
  },
  {
    name: 'may: a handle with any secret is a token',
    breaks: 'a token opens its session, and nothing else does',
    file: 'src/log/member-cache.ts',
    from: `if (!member || !proves(token, member)) return undefined`,
    to: `if (!member) return undefined`,
    tests: tests('conformance/credentials'),
  },
  {
    name: 'may: a team that has left reads on',
    breaks: 'a token ends when its team leaves',
    file: PERFORM,
    from: `if (caller.ended && operation.effect !== 'append' && idempotency === undefined) notAuthenticated(operation)`,
    to: ``,
    tests: tests('conformance/credentials', 'conformance/sessions'),
  },
  {
    name: 'may: a page of another site calls',
    breaks: 'a web page of somebody else cannot speak to us',
    file: GUARDS,
    from: `if (site === 'cross-site' && !pageRead) refuse`,
    to: `if (site === 'cross-site' && !pageRead && false) refuse`,
    tests: tests('conformance/host-and-origin'),
  },
  {
    name: 'may: a reader writes',
    breaks: 'the viewer’s password opens reading alone',
    file: GUARDS,
    from: `if (person?.role !== 'reader') return person !== undefined`,
    to: `return person !== undefined`,
    tests: tests('conformance/readers', 'conformance/people', 'conformance/host-and-origin'),
  },
  {
    name: 'may: a session’s link opens other sessions',
    breaks: 'a link opens its session and no other',
    file: 'src/doors/http/share-link.ts',
    from: `(await services.sharedBy(shared.token)) === shared.sessionId`,
    to: `(await services.sharedBy(shared.token)) !== undefined`,
    tests: tests('conformance/sharing'),
  },
]

const REDACTION: Mutant[] = [
  {
    name: 'secret: a text with a token is taken',
    breaks: 'a credential never stands in a text',
    file: TEXT,
    from: `(own !== undefined && text.includes(own)) || SECRETS.some((shape) => shape.test(text))`,
    to: `own !== undefined && text.includes(own)`,
    tests: tests('quick/text', 'conformance/credentials'),
  },
  {
    name: 'secret: a caller’s own secret without its handle is taken',
    breaks: 'a credential never stands in a text',
    file: TEXT,
    from: `(own !== undefined && text.includes(own)) || `,
    to: ``,
    tests: tests('quick/text'),
  },
  {
    name: 'secret: what looks like a credential is logged and imported as it is',
    breaks: 'credentials never stand in logs and imported transcripts',
    file: TEXT,
    from: `EVERY_SECRET.reduce((kept, shape) => kept.replace(shape, '$1…'), text)`,
    to: `text`,
    tests: tests('quick/log', 'quick/text'),
  },
  {
    name: 'secret: the access token is a word like any other',
    breaks: 'what an operator chose as a credential is refused in texts, and cut out of logs and imports',
    file: TEXT,
    from: `  chosen.add(secret)\n`,
    to: ``,
    tests: tests('quick/text'),
  },
  {
    name: 'secret: a name may hide its direction',
    breaks: 'nobody takes another’s name by invisible marks',
    file: TEXT,
    from: `!isBlank(name) && escapeInvisible(name) === name && !CONTROL.test(name)`,
    to: `!isBlank(name) && !CONTROL.test(name)`,
    tests: tests('quick/text'),
  },
]

const MCP: Mutant[] = [
  {
    name: 'mcp: a header may name another tool than the body',
    breaks: 'what stands before the server goes by the headers, so they say what the body says',
    file: REVISION,
    from: `decoded(header('mcp-name')) === named ?`,
    to: `header('mcp-name') !== undefined ?`,
    tests: tests('conformance/mcp-2026-07-envelope'),
  },
  {
    name: 'mcp: a request of the new revision in a batch is carried out unchecked',
    breaks: 'a request of the new revision comes alone, with its headers',
    file: 'src/doors/mcp/endpoint.ts',
    from: `messages.some((one) => isPerRequest(one, revision))`,
    to: `false`,
    tests: tests('conformance/mcp-2026-07'),
  },
  {
    name: 'mcp: what a caller may read is kept for everybody',
    breaks: 'a shared cache never has what depends on who asks',
    file: REVISION,
    from: `{ ttlMs: 0, cacheScope: 'private' }`,
    to: `{ ttlMs: 0, cacheScope: 'public' }`,
    tests: tests('conformance/mcp-2026-07'),
  },
]

const ASLEEP: Mutant[] = [
  {
    name: 'asleep: a wake consumes what it told of',
    breaks: 'a held peek moves no cursor',
    file: PEEK,
    from: `if (over || isOver(answer)) return answer`,
    to: `services.presence.poll(member.session.id, member.teamId, 0).advance({ delivered: answer.lastCursor }); if (over || isOver(answer)) return answer`,
    tests: tests('conformance/held-peek'),
  },
  {
    name: 'asleep: the hour’s wakes are never used up',
    breaks: 'WAKES_PER_HOUR is how many teams messages wake without a person’s word',
    file: WAKES,
    from: `f.free or f.always or f.n <= $6::int - hour.taken`,
    to: `f.free or f.always or f.n <= $6::int`,
    tests: tests('conformance/wakes'),
  },
  {
    name: 'asleep: two instances count a team twice',
    breaks: 'a team that sleeps at two instances is woken at both and counted once',
    file: WAKES,
    from: `order by p.session_id, p.team_id for no key update of p`,
    to: `order by p.session_id, p.team_id`,
    tests: tests('stores/wakes'),
  },
  {
    name: 'asleep: a person’s word takes wakes',
    breaks: 'what a person says wakes everybody and takes none of the wakes',
    file: WAKES,
    from: `where not free`,
    to: `where true`,
    tests: tests('conformance/wakes'),
  },
  {
    name: 'asleep: a team that sleeps counts as listening',
    breaks: 'only who waits for the next message listens',
    file: 'src/rooms/status.ts',
    from: `return inFlightUntil({ at: seen?.lastSeenMs, until: seen?.pollingUntilMs }, written) > clock.now()`,
    to: `return inFlightUntil({ at: seen?.lastSeenMs, until: seen?.pollingUntilMs ?? seen?.sleepingUntilMs }, written) > clock.now()`,
    tests: tests('quick/session-state', 'conformance/asleep'),
  },
  {
    name: 'asleep: a sleeping convener counts as present',
    breaks: 'a held peek makes no convener present',
    file: 'src/rooms/convener.ts',
    from: `row.status === 'disconnected' || row.status === 'asleep'`,
    to: `row.status === 'disconnected'`,
    tests: tests('conformance/asleep'),
  },
]

const NOTICES: Mutant[] = [
  {
    name: 'notices: one private address among public ones is called',
    breaks: 'a push is sent to no private address',
    file: 'src/notices/push-sender.ts',
    from: `!addresses.every(isAllowed)`,
    to: `!addresses.some(isAllowed)`,
    tests: tests('notices/push-sender'),
  },
  {
    name: 'notices: an endpoint is looked up again to connect to it',
    breaks: 'a push goes to the address that was judged',
    file: 'src/notices/push-sender.ts',
    from: `lookup: answering(addresses) }`,
    to: `lookup: (_name, { all }, done) => void lookup(new URL(endpoint).hostname).then((found) => (all ? done(null, found.map((address) => ({ address, family: 4 }))) : done(null, found[0]!, 4))) }`,
    tests: tests('notices/push-sender'),
  },
  {
    name: 'notices: titles are pushed unasked',
    breaks: 'a push has the title only where its person chose that',
    file: 'src/notices/message.ts',
    from: `...(titles && { title: escapeInvisible(title) }),`,
    to: `title: escapeInvisible(title),`,
    tests: tests('notices/push'),
  },
  {
    name: 'notices: two instances take the same delivery',
    breaks: 'a fact is told once over all instances',
    file: 'src/notices/outbox.ts',
    from: `set tries = d.tries + 1, due_at = now() + `,
    to: `set tries = d.tries + 1, due_at = d.due_at + 0 * `,
    tests: tests('notices/facts'),
  },
  {
    name: 'notices: a revised conclusion is told again',
    breaks: 'a conclusion is told once',
    file: 'src/rooms/session-lifecycle.ts',
    from: `if (context.session!.status === 'active')`,
    to: `if (context.session)`,
    tests: tests('notices/facts'),
  },
  {
    name: 'notices: signing out goes on being told',
    breaks: 'a browser that signs out is told no more',
    file: 'src/pages/site/sign-in.tsx',
    from: `await endSubscription(c, services)`,
    to: ``,
    tests: tests('notices/push'),
  },
  {
    name: 'notices: a browser of an ended sign-in is still sent to',
    breaks: 'a new operator key ends what people are pushed',
    file: 'src/notices/outbox.ts',
    from: "where p.id = d.subscription_id and ${signInHolds('s', '$1')}) end",
    to: 'where p.id = d.subscription_id and $1::text is not null) end',
    tests: tests('notices/push'),
  },
]

const CREDENTIALS: Mutant[] = [
  {
    name: 'credential: a key of any scope opens every operation',
    breaks: 'what a key opens stands in the table',
    file: PERFORM,
    from: `if (call.key && !keyRowOf(operation)[call.key.scope])`,
    to: `if (call.key && false)`,
    tests: tests('conformance/keys'),
  },
  {
    name: 'credential: an agent’s key follows any session by an id with more around it',
    breaks: 'the key of a driven agent reads the session of its own task alone',
    file: GUARDS,
    from: `  refuseForeign(c, sessionId)
  if (mayRead`,
    to: `  if (mayRead`,
    tests: tests('conformance/keys'),
  },
  {
    name: 'credential: a held call outlives its key',
    breaks: 'revoking ends held calls',
    file: 'src/doors/http/credentials.ts',
    from: `return ended.signal.aborted ? undefined : result`,
    to: `return result`,
    tests: tests('conformance/keys'),
  },
  {
    name: 'credential: an instance that is deaf trusts what it remembers',
    breaks: 'revocation holds at once on every instance',
    file: 'src/process/credentials.ts',
    from: `isUpToDate() ? known.get(name) : undefined`,
    to: `known.get(name)`,
    tests: tests('faults/revocation'),
  },
  {
    name: 'credential: what ended is remembered as good',
    breaks: 'sign-out ends a sign-in at once',
    file: 'src/process/parts.ts',
    from: `publisher.on(kind, credentials.forget)`,
    to: `publisher.on(kind, () => {})`,
    tests: tests('conformance/sign-ins'),
  },
  {
    name: 'credential: a link signs in again and again',
    breaks: 'a link signs in once',
    file: 'src/stores/people.ts',
    from: `and link_used_at is null and`,
    to: `and`,
    tests: tests('conformance/sign-ins'),
  },
  {
    name: 'credential: more join by an invitation than it has places',
    breaks: 'joins are counted by one conditional update',
    file: 'src/stores/invitations.ts',
    from: `revoked_at is null and expires_at > clock_timestamp() and joined < joins`,
    to: `revoked_at is null and expires_at > clock_timestamp()`,
    tests: tests('conformance/invitations'),
  },
  {
    name: 'credential: every team passes without the access token',
    breaks: 'only the team_id that an invitation gave does',
    file: PERFORM,
    from: `caller.kind === 'team' && caller.member.invited`,
    to: `caller.kind === 'team'`,
    tests: tests('conformance/invitations'),
  },
]

export const MUTANTS: Mutant[] = [
  ...LOG,
  ...WAITS,
  ...ASLEEP,
  ...CROSSING,
  ...NOTIFIER_MUTANTS,
  ...IDEMPOTENCY,
  ...PERMISSIONS,
  ...REDACTION,
  ...MCP,
  ...NOTICES,
  ...CREDENTIALS,
  ...CONTROL,
  ...RECORDS,
]
