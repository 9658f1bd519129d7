// Programs of calls, run on a real server and on the model: one after the other, or several at the same time.
import { expect } from 'bun:test'
import fc from 'fast-check'
import { cookieOf, operationNamed, viaMcp, viaRest, type Answer, type Parley } from '../support/parley.ts'
import { FULL } from '../support/full.ts'
import { asked, follow, judged, type Asked, type Command, type Step, type Verdict } from './command.ts'
import { bearer } from '../support/keys.ts'
import { newState, PERSON, type State } from './state.ts'

/** What a person reads of a session, and how the model would answer. `always`: after each write in the long form, and not only at the end of
 *  a program (a read costs the embedded database 5 to 15 ms). `learns`: what the model could not know it takes from the answer. */
export interface View<Subject = any> {
  op: string
  always?: boolean
  input?(of: Subject): Record<string, unknown>
  shows(of: Subject, state: State): object
  also?(of: Subject, body: any, state: State): boolean
  learns?(of: Subject, body: any): void
  /** Whether what the model has so far may become this answer: an order of calls that may not is followed no further. */
  begins?(of: Subject, body: any): boolean
}

/** The commands of a wing, and what must look the same after each of them. */
export interface Wing {
  commands: readonly Command[]
  views: readonly View[]
  /** What is looked at: sessions, as this wing knows them. */
  subjects(state: State): readonly { id: string }[]
  /** What there is before any step. */
  begin?(parley: Parley, state: State): Promise<void>
}

export interface World {
  wing: Wing
  parley: Parley
  perform(call: Asked): Promise<Answer>
}

export const commandOf = ({ commands }: Wing, op: string): Command => commands.find((command) => command.op === op)!

export const worldOf = async (parley: Parley, wing: Wing): Promise<World> => {
  const person = await cookieOf(parley, { role: 'person', name: PERSON })
  const doors = { REST: viaRest(parley), MCP: viaMcp(parley) }
  const perform = (call: Asked) =>
    doors[call.door](call.op, call.input, {
      team: call.team?.token,
      key: call.key,
      ...(call.person && { person }),
      ...(call.bearer && { headers: bearer(call.bearer) }),
    })
  return { wing, parley, perform }
}

/** A step as a command of fast-check, which shrinks programs by leaving commands out. Printed, it is a step of a kept case. */
class StepOf implements fc.AsyncCommand<State, World> {
  constructor(readonly step: Step) {}
  check = () => true
  run = (state: State, world: World) => take(world, state, this.step)
  toString = () => JSON.stringify(this.step)
}

const MOST_STEPS = 50

/** Programs of a wing, as fast-check's commands. `first`: steps that each of them begins with. */
export const programsOf = (steps: fc.Arbitrary<Step>, size = MOST_STEPS) =>
  fc.commands([steps.map((step) => new StepOf(step))], { maxCommands: size, size: 'max' })

/** The state after these steps. */
export const begun = async (world: World, first: readonly Step[]): Promise<State> => {
  const state = newState()
  await world.wing.begin?.(world.parley, state)
  for (const step of first) await take(world, state, step)
  return state
}

/** Runs a program step by step: each answer, and what is there after it, is what the model says. */
export const agree = async (world: World, first: readonly Step[], program: Iterable<fc.AsyncCommand<State, World>>): Promise<void> => {
  const state = await begun(world, first)
  await fc.asyncModelRun(() => ({ model: state, real: world }), program)
  for (const of of world.wing.subjects(state)) expect(await differsFrom(world, of, state), 'at the end').toBeUndefined()
}

/** The same for steps that are written down. */
export const replay = (world: World, steps: readonly Step[]): Promise<void> =>
  agree(
    world,
    [],
    steps.map((step) => new StepOf(step)),
  )

const take = async (world: World, state: State, step: Step): Promise<void> => {
  const command = commandOf(world.wing, step.op)
  const call = asked(command, step, state)
  const prepared = call.key === undefined && (await command.beforehand?.(call, step, state, world.parley.database)) === true
  const verdict = judged(command, call, state, prepared)
  const answer = await world.perform(call)
  const told = `${JSON.stringify(call)} answered ${JSON.stringify(answer)}`
  expect(differs(verdict, answer), `${told}\nand the model says ${JSON.stringify(verdict)}`).toBeUndefined()
  follow(command, call, verdict, answer, state)
  const opened = step.op === 'create_session'
  const of = opened ? state.rooms.at(-1)! : world.wing.subjects(state).find(({ id }) => id === (call.session || call.input.session_id))
  if (of && (opened || (FULL && operationNamed(step.op).effect !== 'read')))
    expect(await differsFrom(always(world), of, state), `after ${told}`).toBeUndefined()
}

/** How an answer is not what the model says of it. */
export const differs = (verdict: Verdict, { ok, body, replayed }: Answer): string | undefined => {
  if ('refuses' in verdict)
    return ok || ![verdict.refuses].flat().includes(body.code) ? `expected ${verdict.refuses}` : unlike(verdict.details ?? {}, body.details)
  if (!ok) return `refused as ${body.code}`
  if (verdict.replayed && replayed === false) return 'not replayed'
  const difference = unlike(verdict.answers, body)
  return difference ?? (verdict.also && !verdict.also(body) ? `not so: ${verdict.also}` : undefined)
}

const unlike = (expected: object, actual: unknown): string | undefined => {
  try {
    return void expect(actual).toMatchObject(expected)
  } catch (error) {
    return (error as Error).message
  }
}

/** What is really there of a session, by each view. */
export const observed = async ({ wing, perform }: World, of: { id: string }): Promise<Answer[]> => {
  const answers: Answer[] = []
  for (const { op, input } of wing.views)
    answers.push(await perform({ op, door: 'REST', session: of.id, person: true, input: input?.(of) ?? { session_id: of.id } }))
  return answers
}

/** How what is there is not what the model has. */
export const differsIn = ({ wing }: World, of: { id: string }, state: State, answers: readonly Answer[]): string | undefined => {
  for (const [i, { op, shows, also, learns }] of wing.views.entries()) {
    learns?.(of, answers[i]!.body)
    const difference = differs({ answers: shows(of, state) }, answers[i]!)
    if (difference) return `${op}: ${difference}`
    if (also && !also(of, answers[i]!.body, state)) return `${op}: not so: ${also}`
  }
  return undefined
}

/** Whether what the model has so far may become what was seen at the end. */
export const mayBecome = ({ wing }: World, of: { id: string }, answers: readonly Answer[]): boolean =>
  wing.views.every(({ begins }, i) => !begins || begins(of, answers[i]!.body))

const always = (world: World): World => ({ ...world, wing: { ...world.wing, views: world.wing.views.filter((view) => view.always) } })

const differsFrom = async (world: World, of: { id: string }, state: State) => differsIn(world, of, state, await observed(world, of))
