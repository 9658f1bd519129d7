// Tells people of sessions that go on without their convener: nobody owes the conclusion any more, and no team need notice.
import { wasAway, type Job } from '../core/runtime/job.ts'
import { notifyPeople, type Fact } from '../notices/notify-people.ts'
import type { Services } from '../process/services.ts'
import { goneConveners } from '../stores/members.ts'
import { goneBefore } from './convener.ts'

const EVERY_MS = 10_000
const BACK_WITHIN_MS = 60_000 // every wait that was held before has ended by then, and its team begun another one

/** Each absence is told once, by whichever instance finds it. After a time in which nobody could call, nobody counts as gone for a minute. */
export const convenerWatch = (services: Services): Job => {
  let [lookedAt, from] = [0, 0]
  return {
    name: 'convener-watch',
    everyMs: EVERY_MS,
    async run() {
      const now = services.clock.now()
      if (lookedAt > 0 && wasAway(now - lookedAt)) from = now + BACK_WITHIN_MS
      lookedAt = now
      if (now >= from) await tell(services)
    },
  }
}

const tell = async ({ database, clock, config }: Services): Promise<void> => {
  const gone = await goneConveners(database, {
    seenBefore: new Date(goneBefore({ clock, config })).toISOString(),
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
}
