// Tells people of sessions that go on without their convener: nobody owes the conclusion any more, and no team need notice.
import type { Job } from '../core/runtime/job.ts'
import { notifyPeople, type Fact } from '../notices/notify-people.ts'
import type { Services } from '../process/services.ts'
import { goneConveners } from '../stores/members.ts'
import { goneBefore } from './convener.ts'

const EVERY_MS = 30_000

/** Looks every half minute; each absence is told once, by whichever instance finds it. */
export const convenerWatch = (services: Services): Job => ({
  name: 'convener-watch',
  everyMs: EVERY_MS,
  async run() {
    const { database, clock, config } = services
    const gone = await goneConveners(database, {
      seenBefore: new Date(goneBefore(services)).toISOString(),
      othersSince: new Date(clock.now() - config.DISCONNECTED_AFTER * 1000).toISOString(),
      now: new Date(clock.now()).toISOString(),
    })
    // The fact names when the convener was last there: when it comes back and goes again, people are told again.
    const facts = gone.map(({ sessionId, teamId, lastThere }): Fact => ({
      kind: 'convener_gone',
      sessionId,
      about: `${teamId}/${lastThere}`,
    }))
    await notifyPeople(database, facts)
  },
})
