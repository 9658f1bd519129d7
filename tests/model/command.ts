// A call as the generator chooses it, as it is made, and what the model says of it.
import fc from 'fast-check'
import type { Database } from '../../db/database.ts'
import { STATUS } from '../../src/core/errors.ts'
import { operationNamed, type Answer } from '../support/parley.ts'
import { ENDED, refusedCaller, rightCaller } from './control/callers.ts'
import { BY_PERSON, PERSON, type Room, type Speaker, type State, type Team } from './state.ts'

/** What was chosen: numbers that pick from what there is when the call is made, so that a shorter program still means something. */
export interface Step {
  op: string
  door: 'REST' | 'MCP'
  at: number // picks the session
  by: number // picks the caller
  key: number // picks an idempotency key; 0: none
  [choice: string]: unknown
}

/** The call that a step has become. It names everything, so that it can be judged in any state. */
export interface Asked {
  op: string
  door: 'REST' | 'MCP'
  session: string
  team?: Team
  person: boolean
  /** Control's: the scope of the key that it brings, or `person`. */
  caller?: string
  bearer?: string
  key?: string
  input: Record<string, any>
  /** A read that was answered although its team left meanwhile: who calls is asked once, before what is read. */
  outlivesLeaving?: boolean
  /** A wait without a cursor that was held beside other calls of its team: where it began, for it is asked once what was delivered, and they
   *  may be handed the same meanwhile. */
  began?: number
}

/** What a call is judged by. `self`: the team that calls, if it is one of the session. */
export interface Known {
  state: State
  room: Room
  self: Team | undefined
  person: boolean
  speaker: Speaker
  input: any
  began?: number | undefined
  /** What `beforehand` did. */
  prepared: boolean
}

type Code = keyof typeof STATUS

/** A refusal, or what the answer must hold and what is so from then on. `also`: what else must hold of the answer. */
export type Verdict =
  | { refuses: Code | readonly Code[]; details?: object; after?: (details: any) => void }
  | { answers: object; also?: (body: any) => boolean; after?: (body: any) => void; replayed?: boolean }

export interface Command {
  op: string
  /** What is chosen, beside what every step has. */
  draws?: Record<string, fc.Arbitrary<unknown>>
  /** How often it is chosen. */
  weight?: number
  input?(room: Room, choices: any, state: State, self: Team | undefined): Record<string, unknown>
  /** The shape is wrong: refused before anybody asks who calls. */
  misshapen?(input: any): boolean
  /** What its idempotency keys are kept under; the session unless given. */
  scope?(input: any): string
  /** Brings the world to where the call means something, as time does. Left out where calls are made at the same time, or with a key. */
  beforehand?(call: Asked, choices: any, state: State, database: Database): Promise<boolean>
  judge(known: Known): Verdict
}

export const refuses = (code: Code | readonly Code[], details?: object): Verdict => ({ refuses: code, ...(details && { details }) })

export const pick = <T>(from: readonly T[], number: number): T => from[number % from.length]!

/** 0 to `most`, each as often: fast-check's own numbers are small ones mostly. */
export const upTo = (most: number): fc.Arbitrary<number> => fc.constantFrom(...Array.from({ length: most + 1 }, (_, n) => n))

/** `by`: below TEAMS it picks a team of the session, else it is one of these. */
const TEAMS = 9
const OTHERS = { person: 9, stranger: 10, nobody: 11 }
/** Commands that people alone may do are called by them half of the time. */
const callers = (restOnly: boolean | undefined): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 10, arbitrary: upTo(TEAMS - 1) },
    { weight: restOnly ? 10 : 2, arbitrary: fc.constant(OTHERS.person) },
    { weight: 1, arbitrary: fc.constantFrom(OTHERS.stranger, OTHERS.nobody) },
  )

/** Steps of these commands. */
export const stepsOf = (commands: readonly Command[]): fc.Arbitrary<Step> =>
  fc.oneof(
    ...commands.map(({ op, draws = {}, weight = 2 }) => ({
      weight,
      arbitrary: fc.record(
        {
          op: fc.constant(op),
          door: fc.constantFrom('REST' as const, 'MCP' as const),
          at: fc.constantFrom(0, 0, 0, 1, 2),
          by: callers(operationNamed(op).restOnly && operationNamed(op).toolset !== 'control'),
          key: fc.constantFrom(0, 0, 0, 0, 1, 2, 3),
          ...draws,
        },
        { noNullPrototype: true },
      ) as fc.Arbitrary<Step>,
    })),
  )

/** The call that a step means in this state. */
export const asked = (command: Command, { op, door, at, by, key, ...choices }: Step, state: State): Asked => {
  const operation = operationNamed(op)
  const key_ = key > 0 && operation.effect !== 'read' ? { key: `${state.run} key ${key}` } : {}
  if (operation.toolset === 'control') {
    const caller = ({ [OTHERS.person]: 'person', [OTHERS.stranger]: 'read', [OTHERS.nobody]: undefined } as const)[by] ?? (by < TEAMS ? rightCaller(op) : undefined) // prettier-ignore
    const person = caller === 'person'
    const bearer = caller && !person ? { bearer: state.control.keys[caller]! } : {}
    const input = command.input?.(undefined as never, choices, state, undefined) ?? {}
    return {
      op,
      door: person || operation.restOnly ? 'REST' : door,
      session: '',
      person,
      ...(caller && { caller }),
      ...bearer,
      ...key_,
      input,
    }
  }
  const room = pick(state.rooms, at)
  const person = by === OTHERS.person
  const stranger = pick(state.rooms, at + 1)?.teams[0]
  const team = by < TEAMS ? pick(room?.teams ?? [], by) : by === OTHERS.stranger ? stranger : undefined
  const session = 'session_id' in operation.input.shape && room ? { session_id: room.id } : {}
  return {
    op,
    door: person || operation.restOnly ? 'REST' : door,
    session: room?.id ?? '',
    ...(team && operation.carried.includes('team_id') && { team }),
    person,
    ...key_,
    input: {
      ...session,
      ...command.input?.(
        room,
        choices,
        state,
        room?.teams.find(({ handle }) => handle === team?.handle),
      ),
    },
  }
}

/** What the model says of a call in this state, before it is made. */
export const judged = (command: Command, call: Asked, state: State, prepared = false): Verdict => {
  const operation = operationNamed(call.op)
  if (operation.toolset === 'control') return judgedOfControl(command, call, state)
  const takes = operation.callers.map(({ kind }) => kind) as string[]
  const isOpen = takes.includes('anyone')
  const presents = isOpen || (call.team && takes.includes('team')) || (call.person && takes.includes('person'))
  if (!presents) return refuses('unauthorized')
  if (command.misshapen?.(call.input)) return refuses('invalid_request')
  const room = state.rooms.find(({ id }) => id === call.session)!
  const self = room?.teams.find(({ handle }) => handle === call.team?.handle)
  if (!isOpen && !call.person && !self && !reachesElsewhere(call, state)) return refuses('unauthorized')
  if (operation.peopleOnly && self) return refuses(self.left ? 'unauthorized' : 'forbidden') // whatever its key was used for
  const before = keptVerdict(command, call, state)
  if (before) return before
  if (!isOpen && self?.left && !call.outlivesLeaving) return refuses('unauthorized')
  const team = self ?? call.team
  const speaker = team ? { whose: team.handle, name: team.name } : { whose: BY_PERSON, name: PERSON }
  return command.judge({ state, room, self, person: call.person, speaker, input: call.input, began: call.began, prepared })
}

const judgedOfControl = (command: Command, call: Asked, state: State): Verdict => {
  const refused = refusedCaller(call) ?? (call.bearer === ENDED ? refuses('unauthorized') : keptVerdict(command, call, state))
  if (refused) return refused
  const speaker = { whose: '', name: '' }
  return command.judge({
    state,
    room: undefined as never,
    self: undefined,
    person: call.person,
    speaker,
    input: call.input,
    prepared: false,
  })
}

const keptVerdict = (command: Command, call: Asked, { kept }: State): Verdict | undefined => {
  const before = call.key && kept[keptUnder(command, call)]
  if (!before) return undefined
  const same = before.op === call.op && before.input === inputText(call)
  // Of a team that came back with its token nothing secret is kept: its retry brings the token again.
  if (same && before.token !== undefined && call.team?.token !== before.token) return refuses('unauthorized')
  return same ? { answers: before.body, replayed: true } : refuses('idempotency_mismatch')
}

// A team is somebody in other sessions too where records or a board are read, and where the call names no session.
const reachesElsewhere = ({ op, team, input }: Asked, { rooms }: State): boolean => {
  const { callers, effect } = operationNamed(op)
  const isThere = rooms.some(({ teams }) => teams.some(({ token, left }) => token === team?.token && !left))
  const namesSession = 'session_id' in input || 'meeting_id' in input
  return isThere && callers.some(({ kind }) => (kind as string) === 'reader') && (effect === 'read' || !namesSession)
}

const keptUnder = ({ scope }: Command, { op, session, team, person, caller, key, input }: Asked): string => {
  const isOpen = operationNamed(op).callers.some(({ kind }) => kind === 'anyone')
  return JSON.stringify(isOpen ? [key] : [scope?.(input) ?? session, person ? BY_PERSON : (caller ?? team?.handle), key])
}

// A credential is no part of what a key was used for: a retry may bring another. A message is the same as a text and as an object.
const inputText = ({ op, input }: Asked): string => {
  const { retryMayChange = [], carried } = operationNamed(op)
  const left = [...retryMayChange, ...carried]
  return JSON.stringify(
    Object.entries(input)
      .filter(([name, value]) => value !== undefined && !left.includes(name))
      .map(([name, value]) => [name, name === 'content' && typeof value === 'string' ? { text: value } : value]),
  )
}

/** Brings the state to where it is once the call was answered so. */
export const follow = (command: Command, call: Asked, verdict: Verdict, { ok, body }: Answer, state: State): void => {
  if ('replayed' in verdict) return
  verdict.after?.(ok ? body : body.details)
  const cameBack = ok && call.op === 'join_session' && body.team_id === call.team?.token
  if (ok && call.key)
    state.kept[keptUnder(command, call)] = { op: call.op, input: inputText(call), body, ...(cameBack && { token: body.team_id }) }
}
