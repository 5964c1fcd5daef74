import type { z } from 'zod';

type Section =
  | 'server'
  | 'storage'
  | 'providers'
  | 'worker'
  | 'webhooks'
  | 'outbound'
  | 'provenance'
  | 'limits'
  | 'retention'
  | 'operation';

/** One environment variable. `schema` has its default, its bounds and its description. */
export interface Setting<Schema extends z.ZodType = z.ZodType> {
  variable: string;
  section: Section;
  schema: Schema;
  /** Whether an empty `NAME=` is a value. For other settings it means the same as no line. */
  keepsEmpty?: boolean;
}

export function setting<Schema extends z.ZodType>(variable: string, section: Section, schema: Schema, meaning: string) {
  return { variable, section, schema: schema.describe(meaning) } satisfies Setting<Schema>;
}
