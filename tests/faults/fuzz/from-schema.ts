// Inputs made from an operation's own schema: good ones, and such with something wrong in them.
import fc from 'fast-check'
import { z } from 'zod'
import { NAUGHTY_TEXTS, NAUGHTY_VALUES } from './naughty.ts'

type Schema = Record<string, any>

/** The ids that there are, by the names of the fields that take them. */
export type Ids = Readonly<Record<string, readonly string[]>>

/** Any value. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...NAUGHTY_VALUES),
  fc.constantFrom(...NAUGHTY_TEXTS),
  fc.jsonValue({ maxDepth: 3 }),
  fc.string({ unit: 'binary' }),
)

/** Inputs of this operation: half of them good as far as the schema tells, the others with up to three fields wrong, missing or unknown. */
export const inputsOf = (input: z.ZodType, ids: Ids): fc.Arbitrary<Record<string, unknown>> => {
  const schema = schemaOf(input)
  const good = goodFor(schema, '', ids) as fc.Arbitrary<Record<string, unknown>>
  const names = [...Object.keys(schema.properties ?? {}), 'unknown_field', '__proto__', 'constructor', 'idempotency_key', 'team_id']
  const wrong = fc.dictionary(fc.constantFrom(...names), anything, { minKeys: 1, maxKeys: 3, noNullPrototype: true })
  const dropped = fc.option(fc.constantFrom('', ...Object.keys(schema.properties ?? {})), { freq: 2 })
  const mutated = fc.tuple(good, wrong, dropped).map(([given, changes, without]) => {
    const entries = [...Object.entries(given), ...Object.entries(changes)].filter(([name]) => name !== without)
    return Object.fromEntries(entries)
  })
  return fc.oneof(good, mutated)
}

/** One that is good, with what is required alone: ids that there are, else what `example` has, else anything that the schema allows. */
export const plainInputOf = (input: z.ZodType, ids: Ids, example: Readonly<Record<string, unknown>> = {}): Record<string, unknown> => {
  const { properties = {}, required = [] } = schemaOf(input) as { properties?: Record<string, Schema>; required?: string[] }
  const valueOf = (name: string) => ids[name]?.[0] ?? example[name] ?? fc.sample(goodFor(properties[name]!, name, ids), 1)[0]
  return { ...example, ...Object.fromEntries(required.map((name) => [name, valueOf(name)])) }
}

const schemaOf = (input: z.ZodType) => z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' }) as Schema

const goodFor = (schema: Schema, name: string, ids: Ids): fc.Arbitrary<unknown> => {
  if (ids[name]) return fc.constantFrom(...ids[name])
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one: Schema) => goodFor(one, name, ids)))
  switch (schema.type) {
    case 'object':
      return goodObject(schema, ids)
    case 'array':
      return fc.array(goodFor(schema.items ?? {}, name, ids), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, 3),
      })
    case 'string':
      return goodText(schema)
    case 'integer':
      return fc.integer({ min: leastOf(schema), max: Math.min(schema.maximum ?? Infinity, leastOf(schema) + 1_000) })
    case 'number':
      return fc.integer({ min: 0, max: 1_000 }).map((halves) => halves / 2)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

// Without a least one a schema has the least number that is whole for sure.
const leastOf = ({ minimum = 0 }: Schema): number => Math.max(minimum, 0)

const goodObject = (schema: Schema, ids: Ids): fc.Arbitrary<unknown> => {
  const fields = Object.entries<Schema>(schema.properties ?? {}).map(([name, field]) => [name, goodFor(field, name, ids)] as const)
  return fc.record(Object.fromEntries(fields), { requiredKeys: schema.required ?? [], noNullPrototype: true })
}

const goodText = ({ pattern, format, minLength = 0, maxLength = 200 }: Schema): fc.Arbitrary<string> => {
  if (format === 'uuid') return fc.uuid()
  if (format === 'date-time')
    return fc.date({ noInvalidDate: true, min: new Date('0000-01-01'), max: new Date(4e12) }).map((at) => at.toISOString())
  if (pattern) return fc.stringMatching(new RegExp(pattern))
  const words = fc.constantFrom('the parser', 'We are done.', 'src/lexer', '- one\n- two', '## Part', 'Alex’s Team', '12')
  const length = { minLength: Math.min(minLength, 20), maxLength: Math.min(maxLength, 60) }
  return fc.oneof({ weight: 3, arbitrary: words }, fc.string({ unit: 'grapheme', ...length }), fc.constantFrom(...NAUGHTY_TEXTS))
}
