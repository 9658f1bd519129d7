// What a write's transaction does that others hear of once it is committed.
import type { Queries } from '../../db/database.ts'
import type { Caller } from './callers.ts'
import type { AppendOptions } from './context.ts'
import { appendEvents, type Draft, type Posted } from '../log/append.ts'
import type { Topic } from '../log/topics.ts'
import type { Services } from '../process/services.ts'
import type { Event } from '../stores/events.ts'

export type Effects = ReturnType<typeof createEffects>

/** Collects the effects of one transaction. Those of a transaction that is undone are dropped, and never published. */
export const createEffects = (tx: Queries, caller: Caller) => {
  const appended = new Map<string, Event[]>() // by session
  const changed = new Set<string>()
  const moved = new Map<Topic, number>()
  const grown = new Map<string, { newest: number; count: number }>() // by session, without those in `appended`
  const own = caller.kind === 'team' ? caller.member.teamId : undefined

  const write = async (draft: Draft): Promise<Posted> => {
    // The first try is undecided when the log grew while it waited for the row lock; a parent's log can. The second one holds that lock.
    const answer = (await appendEvents(tx, [draft]))[0] ?? (await appendEvents(tx, [draft]))[0]
    if (answer?.outcome !== 'appended') throw new Error(`an event was ${answer?.outcome} inside its own transaction`)
    return answer
  }
  const post = async (draft: Draft): Promise<Posted> => {
    const answer = await write(draft)
    appended.set(draft.sessionId, [...(appended.get(draft.sessionId) ?? []), answer.event])
    return answer
  }
  const grew = (sessionId: string, newest: number, count: number) =>
    void grown.set(sessionId, { newest, count: count + (grown.get(sessionId)?.count ?? 0) })
  const draftOf = (sessionId: string, content: Draft['content'], { evenClosed = false, doneBy = own, to }: AppendOptions = {}) => {
    const addressed = to && to.length > 0 ? { to, content: { ...content, to } } : { content }
    return { sessionId, author: 'system', doneBy: doneBy ?? undefined, evenClosed, ...addressed } as const
  }

  return {
    post,
    append: async (...written: Parameters<typeof draftOf>): Promise<Event> =>
      (await post({ type: 'system', ...draftOf(...written) })).event,
    note: async (...written: Parameters<typeof draftOf>): Promise<void> => {
      const { event } = await write({ type: 'runtime', ...draftOf(...written) })
      grew(written[0], event.sequence, 1)
    },
    grew,
    changed: (sessionId: string) => void changed.add(sessionId),
    moved: (topic: Topic, newest = Date.now()) => void moved.set(topic, newest),

    /** Call it when the transaction is committed. */
    publish(services: Services) {
      for (const [session, { newest, count }] of grown) services.grewHere(session, newest, count)
      for (const [session, events] of appended) services.publish(session, events)
      for (const session of changed) if (!appended.has(session)) services.indexer.moved(session)
      for (const [topic, newest] of moved) services.publishTopic(topic, newest)
    },
  }
}
