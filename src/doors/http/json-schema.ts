import { z } from 'zod'
import { event } from '../../rooms/schemas.ts'

export interface JsonSchema {
  type: 'object'
  properties: Record<string, { type?: string; description?: string; items?: object; [keyword: string]: unknown }>
  required?: string[]
}

const inputs = new WeakMap<z.ZodType, JsonSchema>()

/** An operation's input as JSON Schema, made once for each operation: there is no end of the lists of tools that a link may
 *  name. Of a schema that accepts several types only the one in its `meta` is shown: model providers refuse unions. */
export const inputSchema = (schema: z.ZodType): JsonSchema => {
  const made = inputs.get(schema) ?? newInputSchema(schema)
  inputs.set(schema, made)
  return made
}

const newInputSchema = (schema: z.ZodType): JsonSchema => {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.type) delete jsonSchema.anyOf
      withoutSafeLimits(jsonSchema)
    },
  })
  return made as unknown as JsonSchema
}

/** An operation's output as JSON Schema. It allows other fields, so that later versions may add some. */
export const outputSchema = (schema: z.ZodType): object => {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if ((zodSchema as unknown) === event) return referTo(jsonSchema, 'Event')
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      if (jsonSchema.format) delete jsonSchema.pattern // the format implies it
      withoutSafeLimits(jsonSchema)
    },
  })
  return made
}

// Replaces a schema by a reference to the one in openapi-parts.ts.
const referTo = (schema: object, name: string) => {
  for (const key of Object.keys(schema)) delete (schema as Record<string, unknown>)[key]
  Object.assign(schema, { $ref: `#/components/schemas/${name}` })
}

// Drops the limits of safe integers, which go without saying.
const withoutSafeLimits = (schema: { maximum?: number; minimum?: number }) => {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
}
