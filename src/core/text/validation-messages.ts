// Messages for bad arguments that say what to send instead, for every check whose schema has no message of its own.
import type { z } from 'zod'

const TYPE_NAMES: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
}
const UNITS: Record<string, [one: string, more: string]> = { string: ['character', 'characters'], array: ['entry', 'entries'] }

const bound = (origin: string, word: string, count: unknown) => {
  const unit = UNITS[origin]
  return unit ? `must have ${word} ${String(count)} ${unit[Number(count) === 1 ? 0 : 1]}` : `must be ${word} ${String(count)}`
}

const typeName = (expected: string) => TYPE_NAMES[expected] ?? expected

// The arguments of the object that was sent something else.
const argumentsOf = ({ inst }: z.core.$ZodRawIssue) => {
  const { shape } = (inst ?? {}) as Partial<z.ZodObject>
  return shape ? `; the arguments are ${Object.keys(shape).join(', ')}` : ''
}

/** For zod's `safeParse(…, { error })`. Undefined leaves zod's own message. */
export const validationMessage: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is required (${typeName(issue.expected)})`
        : `must be ${typeName(issue.expected)}${argumentsOf(issue)}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_big':
      return bound(issue.origin, 'at most', issue.maximum)
    case 'too_small':
      return bound(issue.origin, 'at least', issue.minimum)
    case 'unrecognized_keys':
      return `unknown argument ${issue.keys.join(', ')}${argumentsOf(issue)}`
    default:
      return undefined
  }
}
