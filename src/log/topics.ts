// What a waiter can wait for and an instance can notify of. A topic is a string: the session's uuid for a session's log, which keeps its
// notifications short, and `kind/id` for everything else (tasks, keys, approvals).
import { isUuid } from '../core/ids.ts'

export type Topic = string

const KIND = /^[a-z][a-z-]{0,15}$/
// An id has no character that separates the fields of a notification, and is short enough for many ids in one.
const ID = /^[\w.-]{1,40}$/

/** The topic of a thing that is no session's log: `topicOf('task', id)`. */
export const topicOf = (kind: string, id: string): Topic => {
  if (!KIND.test(kind) || !ID.test(id)) throw new Error(`no topic can be made of ${kind}/${id}`)
  return `${kind}/${id}`
}

export const isSessionTopic = (topic: Topic): boolean => isUuid(topic)

/** The kind and id of a topic that topicOf made; undefined for any other text. */
export const partsOfTopic = (topic: Topic): { kind: string; id: string } | undefined => {
  const [kind = '', id = '', ...rest] = topic.split('/')
  return rest.length === 0 && KIND.test(kind) && ID.test(id) ? { kind, id } : undefined
}
