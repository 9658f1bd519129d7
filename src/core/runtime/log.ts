// The log: a JSON object on each line, or readable lines on a terminal. Whatever looks like a credential is redacted.
import { redacted } from '../text/text.ts'

const LEVELS = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }
export type Level = Exclude<keyof typeof LEVELS, 'silent'>
export type Log = (level: Level, message: string, fields?: Record<string, unknown>) => void

/** A log that passes each line at `least` or above to `write`. `pretty`: lines for people instead of JSON. */
export const createLog =
  (least: keyof typeof LEVELS, write: (line: string) => void, pretty: boolean): Log =>
  (level, message, fields = {}) => {
    if (LEVELS[level] < LEVELS[least]) return
    const entry = { at: new Date().toISOString(), level, message, ...fields }
    write(redacted(pretty ? prettyLine(entry) : JSON.stringify(entry)))
  }

export const silent: Log = () => {}

/** What a log may say about an error: name, message, code and stack, with its causes, but never a statement's parameters. */
export const describeError = (error: unknown): Record<string, unknown> => {
  if (!(error instanceof Error)) return { error: String(error) }
  const { code } = error as { code?: unknown }
  const message = error.message.split('\nparams:')[0] // drizzle puts the values after the statement
  return {
    error: error.name,
    reason: message,
    ...(code !== undefined && { code }),
    stack: framesOf(error),
    ...(error.cause !== undefined && { cause: describeError(error.cause) }),
  }
}

// Without the lines before the frames, in which Bun repeats the message and so the parameters.
const framesOf = ({ stack = '' }: Error) =>
  stack
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 6)
    .join('\n')

const prettyLine = ({ at, level, message, ...fields }: { at: string; level: string; message: string }) => {
  const rest = Object.keys(fields).length > 0 ? ` ${JSON.stringify(fields)}` : ''
  return `${at.slice(11, 19)} ${level.padEnd(5)} ${message}${rest}`
}
