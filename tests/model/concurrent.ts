// Programs that run at the same time. Whatever order the server took their calls in, there must be one in which the model answers each of
// them just so, and then looks as the server does: nothing lost, nothing doubled, one winner.
import { expect } from 'bun:test'
import { operationNamed, type Answer } from '../support/parley.ts'
import { asked, follow, judged, type Asked, type Step } from './command.ts'
import { begun, commandOf, differs, differsIn, mayBecome, observed, type World } from './run.ts'
import type { State } from './state.ts'

/** A call that was answered. `from` and `to`: when it began and ended (ms). */
interface Done {
  call: Asked
  answer: Answer
  from: number
  to: number
}

const MOST_TRIED = 20_000 // orders, counted by the calls in them: for programs that nobody can put in order

/** Runs these steps one after the other, then the programs at once. Throws when no order of their calls explains the answers. */
export const agreeAtOnce = async (world: World, first: readonly Step[], programs: readonly (readonly Step[])[]): Promise<void> => {
  const state = await begun(world, first)
  state.crowded = true
  const done = await Promise.all(programs.map((steps) => runOne(world, steps, state)))
  markReads(done.flat())
  const seen = new Map<string, Answer[]>()
  for (const of of world.wing.subjects(state)) seen.set(of.id, await observed(world, of))
  const { isExplained, why } = explained(world, state, done, seen)
  expect(isExplained, `no order of these calls explains their answers:\n${JSON.stringify(done, null, 1)}\n${why}`).toBe(true)
}

// What the calls name is picked before any of them: in an order of their own they may meet what is no longer so.
const runOne = async (world: World, steps: readonly Step[], state: State): Promise<Done[]> => {
  const done: Done[] = []
  for (const step of steps) {
    const call = asked(commandOf(world.wing, step.op), step, state)
    const from = performance.now()
    const answer = await world.perform(call)
    done.push({ call, answer, from, to: performance.now() })
  }
  return done
}

// Notes for each read which calls of its team ran beside it: an answer that was true when the read began may not be when it ends.
const markReads = (done: readonly Done[]) => {
  for (const one of done.filter(({ call, answer }) => answer.ok && operationNamed(call.op).effect === 'read')) {
    const beside = done.filter(
      (other) => other !== one && isAtOnce(one, other) && one.call.team && tokensOf(other.call).includes(one.call.team.token),
    )
    one.call.outlivesLeaving = beside.some(({ call, answer }) => call.op === 'leave_session' && answer.ok)
    const first = one.answer.body.messages?.[0]?.sequence
    if (beside.length > 0 && first !== undefined) one.call.began = first - 1
  }
}

const isAtOnce = (one: Done, other: Done) => one.from < other.to && other.from < one.to
const tokensOf = ({ team, input }: Asked): string[] => [...(team ? [team.token] : []), ...(input.waits ?? []).map(teamIdOf)]
const teamIdOf = ({ team_id }: { team_id: string }) => team_id

// Depth first: of each program the next call, unless another one that is still to come had ended before it began.
const explained = (world: World, start: State, done: readonly Done[][], seen: Map<string, Answer[]>) => {
  let tried = 0
  let [deepest, why] = [-1, '']
  const note = (depth: number, reason: string) => {
    if (depth >= deepest) [deepest, why] = [depth, `${depth} calls in: ${reason}`]
  }
  const isLeaf = (next: readonly number[]) => next.every((n, i) => n === done[i]!.length)
  const continues = (state: State, next: readonly number[], depth: number): boolean => {
    if (isLeaf(next)) return looksSo(world, state, seen, (reason) => note(depth, reason))
    const heads = next.map((n, i) => done[i]![n])
    const firstEnd = Math.min(...heads.map((head) => head?.to ?? Infinity))
    return heads.some((head, i) => {
      if (!head || head.from > firstEnd || ++tried > MOST_TRIED) return false
      const copy = structuredClone(state)
      const command = commandOf(world.wing, head.call.op)
      const verdict = judged(command, head.call, copy)
      const difference = differs(verdict, head.answer)
      if (difference) {
        note(depth, `${JSON.stringify(head.call)}: ${difference}`)
        return false
      }
      follow(command, head.call, verdict, head.answer, copy)
      if (world.wing.subjects(copy).some((of) => seen.has(of.id) && !mayBecome(world, of, seen.get(of.id)!))) return false
      return continues(copy, next.with(i, next[i]! + 1), depth + 1)
    })
  }
  const none = done.map(() => 0)
  const isExplained = continues(start, none, 0)
  return { isExplained, why }
}

const looksSo = (world: World, state: State, seen: Map<string, Answer[]>, note: (reason: string) => void): boolean =>
  world.wing.subjects(state).every((of) => {
    const answers = seen.get(of.id)
    const difference = answers && differsIn(world, of, state, answers)
    if (difference) note(difference)
    return !difference
  })
