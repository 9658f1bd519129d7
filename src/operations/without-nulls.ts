// Many clients send null for an argument that they leave out, also within objects and lists of objects.
import { z } from 'zod'

/** What was sent for this schema, without each null that the schema does not take: a null stays where it means something, as `branch` does
 *  for none. */
export const withoutNulls = (schema: unknown, sent: unknown): unknown => {
  if (typeof sent !== 'object' || sent === null) return sent
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return withoutNulls(schema.unwrap(), sent)
  if (Array.isArray(sent)) return schema instanceof z.ZodArray ? sent.map((one) => withoutNulls(schema.element, one)) : sent
  return schema instanceof z.ZodObject ? fieldsWithoutNulls(schema.shape, sent) : sent
}

const fieldsWithoutNulls = (shape: z.core.$ZodShape, sent: object): object =>
  Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) => {
      const field = Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined
      return value === null && !field?.safeParse(null).success ? [] : [[name, withoutNulls(field, value)]]
    }),
  )
