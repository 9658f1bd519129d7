import { z } from 'zod'
import { event } from '../../rooms/schemas.ts'

export interface JsonSchema {
  type: 'object'
  properties: Record<string, { type?: string; description?: string; items?: object; [keyword: string]: unknown }>
  required?: string[]
}

/** An input as JSON Schema. A schema that takes several forms shows the one that its `meta` names: providers refuse unions. */
export const inputSchema = (schema: z.ZodType): JsonSchema => {
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

/** An answer as JSON Schema. It may have more fields one day, and so does not say that there are no others. */
export const outputSchema = (schema: z.ZodType): object => {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if ((zodSchema as unknown) === event) return referTo(jsonSchema, 'Event')
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
      if (jsonSchema.format) delete jsonSchema.pattern // says the same at length
      withoutSafeLimits(jsonSchema)
    },
  })
  return made
}

// Described once, in openapi-parts.ts.
const referTo = (schema: object, name: string) => {
  for (const key of Object.keys(schema)) delete (schema as Record<string, unknown>)[key]
  Object.assign(schema, { $ref: `#/components/schemas/${name}` })
}

// What every JSON number keeps to.
const withoutSafeLimits = (schema: { maximum?: number; minimum?: number }) => {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
}
