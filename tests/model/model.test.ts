// Every operation against a small model of what is promised to those outside: programs of calls, over REST and MCP by turns, one after the other and at
// the same time. FULL=1: many more of them, on both databases, with a look at the feed and the document after each write.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { engines, operations, startParley, type Parley } from '../support/parley.ts'
import { DRAWN, FULL } from '../support/full.ts'
import { CASES, type Cases } from './cases.ts'
import { stepsOf, type Step } from './command.ts'
import { agreeAtOnce } from './concurrent.ts'
import { agree, programsOf, replay, worldOf, type Wing, type World } from './run.ts'
import { TWO_SESSIONS } from './rooms/opening.ts'
import { control } from './control/wing.ts'
import { records } from './records/wing.ts'
import { rooms } from './rooms/wing.ts'

const WINGS: [name: string, wing: Wing, opening: Step[], cases: Cases][] = [
  ['rooms', rooms, TWO_SESSIONS, CASES.rooms],
  ['records', records, TWO_SESSIONS, CASES.records],
  ['control', control, [], CASES.control],
]

const LIMIT_MS = FULL ? 1_800_000 : 180_000 // for what hangs
/** A slow or busy machine runs fewer programs, so that the long form takes an hour at the most. To shrink a failure takes hundreds of programs:
 *  what it has come to by then is told. */
const HOW = { interruptAfterTimeLimit: FULL ? 300_000 : LIMIT_MS / 2, ...DRAWN }
const PROGRAMS = FULL ? 150 : 6
const AT_ONCE = FULL ? 300 : 10

test('every operation has a command in a model', () => {
  const modelled = WINGS.flatMap(([, { commands }]) => commands.map(({ op }) => op))
  const named = operations // history reads what the others write
    .map(({ fullName }) => fullName)
    .filter((name) => !name.startsWith('history.'))
  const missing = named.filter((name) => !modelled.includes(name))
  expect(missing).toEqual([])
})

describe.each(FULL ? engines.map(([engine]) => engine) : (['pglite'] as const))('on %s', (engine) => {
  let parley: Parley
  beforeAll(async () => {
    parley = await startParley({ engine })
  }, 180_000)
  afterAll(() => parley?.close())

  describe.each(WINGS)('%s', (_, wing, opening, cases) => {
    let world: World
    beforeAll(async () => {
      world = await worldOf(parley, wing)
    })
    const steps = stepsOf(wing.commands)

    test('programs that once failed do no more', async () => {
      for (const program of cases.alone) await replay(world, [...opening, ...program])
      for (const programs of cases.atOnce) await agreeAtOnce(world, opening, programs)
    }, 180_000)

    test(
      'each answers as the model does, and looks the same afterwards',
      async () => {
        const property = fc.asyncProperty(programsOf(steps), (program) => agree(world, opening, program))
        await fc.assert(property, { numRuns: PROGRAMS, ...HOW })
      },
      LIMIT_MS,
    )

    test(
      'several at the same time answer as the model does in some order',
      async () => {
        const program = fc.array(steps, { minLength: 1, maxLength: 4, size: 'max' })
        const property = fc.asyncProperty(fc.array(program, { minLength: 2, maxLength: 4, size: 'max' }), (programs) =>
          agreeAtOnce(world, opening, programs),
        )
        await fc.assert(property, { numRuns: AT_ONCE, ...HOW })
      },
      LIMIT_MS,
    )
  })
})
