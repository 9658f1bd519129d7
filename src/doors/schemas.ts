import { z } from 'zod'

export interface JsonSchema {
  type: 'object'
  properties: Record<string, { type?: string; description?: string; items?: object }>
  required?: string[]
}

/** An input as JSON Schema. A schema that takes several forms shows the one that its `meta` names: providers refuse unions. */
export const inputSchema = (schema: z.ZodType): JsonSchema => {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (jsonSchema.type) delete jsonSchema.anyOf
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
    },
  })
  return made as unknown as JsonSchema
}
