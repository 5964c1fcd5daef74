import { z } from 'zod';

/**
 * A field of a reply. A value of an unexpected type counts as missing, so that a single field never fails a paid job.
 */
export const field = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

export const text = () => field(z.string());
export const number = () => field(z.number());
/** A field whose type differs from case to case. */
export const anything = () => z.unknown().optional();

/**
 * Reads the declared fields of a reply, and drops unknown ones.
 * @param schema an object of `field`s
 * @returns an object without any field when the JSON is no object
 */
export function parseReply<Schema extends z.ZodType>(schema: Schema, json: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(json);
  return parsed.success ? parsed.data : schema.parse({});
}
