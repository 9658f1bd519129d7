// What instances send each other, as text: `<instance>|<message>|<when it was sent>`. The message is HELLO, HERE, ASK, SETTINGS, or sessions
// with their newest sequences (`uuid:n`, separated by commas). Other topics (`kind/id:n`) are a fourth field of HERE, and an instance's report
// on itself is a fifth.
import { isSessionTopic, partsOfTopic, type Topic } from './topics.ts'

export const HELLO = 'hello' // this instance begins to listen: the others answer HERE, and each knows of the other from then on
export const HERE = 'here'
export const ASK = 'ask' // asks the others how they are: each reports in a fifth field of HERE; an older program does not answer
export const SETTINGS = 'settings' // a setting was saved

/** A topic and its newest number. */
export type Moved = [topic: Topic, newest: number]

/** A time by two clocks: one stands still while the machine sleeps, the other may be set. */
export interface Moment {
  steady: number
  wall: number
}

export interface Notification {
  from: string // the instance
  message: string
  sent: Moment
  moved: Moved[]
  /** The sender's report on itself (process/status/status.ts); empty when it sends none. */
  report: string
}

export const encode = (from: string, message: string, { steady, wall }: Moment, others = '', report = ''): string =>
  [from, message, `${steady}/${wall}`, ...(others || report ? [others] : []), ...(report ? [report] : [])].join('|')

/** A notification's text with all that cannot be read left out. */
export const decode = (payload: string): Notification => {
  const [from = '', message = '', sent = '', others = '', ...report] = payload.split('|')
  const [steady = NaN, wall = NaN] = sent.split('/').map(Number)
  return { from, message, sent: { steady, wall }, moved: [...movedIn(message), ...movedIn(others)], report: report.join('|') }
}

export const listOf = (moved: Moved[]): string => moved.map(([topic, newest]) => `${topic}:${newest}`).join(',')

const movedIn = (list: string): Moved[] =>
  list.split(',').flatMap((item): Moved[] => {
    const at = item.lastIndexOf(':')
    const [topic, newest] = [item.slice(0, Math.max(at, 0)), Number(item.slice(at + 1))]
    return Number.isSafeInteger(newest) && (isSessionTopic(topic) || partsOfTopic(topic)) ? [[topic, newest]] : []
  })
