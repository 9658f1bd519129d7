// One JSON object a line, or a readable line on a terminal. Nothing that looks like a credential gets through.
import { redacted } from './text.ts'

const LEVELS = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 }
export type Level = Exclude<keyof typeof LEVELS, 'silent'>
export type Log = (level: Level, message: string, fields?: Record<string, unknown>) => void

/** `write` takes one finished line. `pretty`: for people on a terminal. */
export const createLog =
  (least: keyof typeof LEVELS, write: (line: string) => void, pretty: boolean): Log =>
  (level, message, fields = {}) => {
    if (LEVELS[level] < LEVELS[least]) return
    const entry = { at: new Date().toISOString(), level, message, ...fields }
    write(redacted(pretty ? prettyLine(entry) : JSON.stringify(entry)))
  }

export const silent: Log = () => {}

/** What a log may say about an error: its kind, message and stack, causes included; never a statement's parameters. */
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

// Bun repeats a message of several lines, values and all, before the frames.
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
