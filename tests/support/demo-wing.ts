// A wing that nothing outside it knows, for new-wing.test.ts: callers, a subject, a topic, a job and a kind of event of its own, and
// operations named like those of rooms.
import { z } from 'zod'
import { lockText } from '../../db/advisory-locks.ts'
import { refuse } from '../../src/core/errors.ts'
import { READERS } from '../../src/core/key-scopes.ts'
import type { Job } from '../../src/core/runtime/job.ts'
import { topicOf } from '../../src/log/topics.ts'
import { anyone, key, person, type CallerKind } from '../../src/operations/callers.ts'
import type { Context } from '../../src/operations/context.ts'
import { operationsOf } from '../../src/operations/operation.ts'
import type { Subject } from '../../src/operations/subject.ts'
import type { Toolset } from '../../src/operations/toolset.ts'

declare module '../../src/operations/callers.ts' {
  interface Callers {
    robot: { serial: string }
  }
}

export const HEADER = 'x-robot'
export const ROBOT = 'robot-0123456789'

/** A robot shows its serial number, which is its secret too. One that was scrapped is found out under the lock. */
const robot: CallerKind<'robot'> = {
  kind: 'robot',
  credentialIn(call) {
    const serial = call.header?.(HEADER)
    return serial === undefined ? undefined : { text: serial, secret: serial }
  },
  resolve: async ({ text }) => (text.startsWith('robot-') ? { kind: 'robot', id: `robot:${text}`, serial: text } : undefined),
  isCurrent: async (_, { serial }) => !serial.endsWith('-scrapped'),
}

const LOST = 'lost'

/** A thing that robots work on. */
const thingSubject = (id: string): Subject<{ id: string }> => ({
  key: `thing/${id}`,
  async lock(tx) {
    await lockText(tx, `thing/${id}`)
    return id === LOST ? undefined : { id }
  },
  missing: () => refuse('not_found', 'There is no such thing.', { thing: id }),
})

const { op } = operationsOf<Context>('demo')
const thing = z.string().regex(/^[a-z]{1,20}$/)

export const demoWing = () => {
  const seen = { working: 0, mostAtOnce: 0, jobs: 0 }

  const createSession = op({
    name: 'create_session',
    summary: 'An operation named like one of rooms.',
    route: ['POST', '/demo/create_session'],
    callers: [anyone],
    effect: 'write',
    input: z.strictObject({ title: z.string() }),
    output: z.object({ from: z.literal('demo') }),
    refuses: [],
    run: async () => ({ from: 'demo' as const }),
  })

  const workOnThing = op({
    name: 'work_on_thing',
    summary: 'Works on a thing, and says so in a session.',
    route: ['POST', '/demo/work_on_thing'],
    callers: [robot],
    effect: 'write',
    subject: (input) => thingSubject(input.thing),
    input: z.strictObject({ thing, in_session: z.uuid(), also_in: z.uuid().optional(), note: z.string().max(100) }),
    output: z.object({ thing: z.string(), by: z.string(), sequences: z.array(z.int()) }),
    refuses: ['not_found'],
    async run(context, input) {
      const { caller, locked } = context
      if (caller.kind !== 'robot') throw new Error('only robots work')
      seen.mostAtOnce = Math.max(seen.mostAtOnce, ++seen.working)
      await Bun.sleep(20)
      seen.working--
      const sequences: number[] = []
      for (const session of [input.in_session, input.also_in])
        if (session)
          sequences.push((await context.append(session, { event: 'thing_worked_on', by: 'Robot 7', thing: input.thing })).sequence)
      context.moved(topicOf('thing', input.thing), 1)
      return { thing: (locked as { id: string }).id, by: caller.serial.slice(0, 7), sequences }
    },
  })

  const watchThing = op({
    name: 'watch_thing',
    summary: 'Waits until somebody works on the thing.',
    route: ['POST', '/demo/watch_thing'],
    callers: [robot],
    effect: 'read',
    held: true,
    topic: (input) => topicOf('thing', input.thing),
    input: z.strictObject({ thing }),
    output: z.object({ woken: z.boolean() }),
    refuses: [],
    async run({ waiter }) {
      return { woken: await Promise.race([waiter!.woken().then(() => true), Bun.sleep(20_000).then(() => false)]) }
    },
  })

  const scrapThing = op({
    name: 'scrap_thing',
    summary: 'Says, as a person, that a thing is scrap.',
    route: ['POST', '/demo/scrap_thing'],
    callers: [robot, person],
    effect: 'write',
    subject: (input) => thingSubject(input.thing),
    restOnly: true,
    peopleOnly: true,
    onlyFor: 'Only a signed-in person scraps a thing.',
    input: z.strictObject({ thing }),
    output: z.object({ scrapped: z.string() }),
    refuses: ['forbidden', 'not_found'],
    run: async (_, input) => ({ scrapped: input.thing }),
  })

  const counting = {
    name: 'count_jobs',
    summary: 'How often the job has run.',
    route: ['POST', '/demo/count_jobs'],
    callers: [key],
    effect: 'read',
    input: z.strictObject({}),
    output: z.object({ jobs: z.int() }),
    refuses: [],
    run: async () => ({ jobs: seen.jobs }),
  } as const
  // @ts-expect-error: keys may call it, and it does not say which
  op(counting)
  const countJobs = op({ ...counting, keyRow: { ...READERS, agent: false, instead: (wanted) => `Robots ask for ${wanted}.` } })

  const count: Job = { name: 'demo-count', everyMs: 10, run: () => void seen.jobs++ }
  const toolset: Toolset = {
    name: 'demo',
    instructions: 'Robots work on things.',
    operations: [createSession, workOnThing, watchThing, scrapThing, countJobs],
    jobs: () => [count],
    eventKinds: [
      {
        name: 'thing_worked_on',
        fields: { by: 'the robot', thing: 'the thing' },
        summary: 'a robot worked on a thing',
        icon: 'pencil',
        words: ({ thing }) => `polished the ${String(thing)}`,
      },
    ],
  }
  return { toolset, seen }
}
