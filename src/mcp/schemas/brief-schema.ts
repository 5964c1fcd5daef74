import { jsonSchemaOf } from '../../platform/schema/json-schema-of.ts';

/**
 * The schema of a view without descriptions. An agent gets all tools at once, so only the first tool that returns a
 * task describes the fields of tasks.
 */
export const briefSchemaOf = (view: Parameters<typeof jsonSchemaOf>[0]): ReturnType<typeof jsonSchemaOf> =>
  withoutDescriptions(jsonSchemaOf(view)) as ReturnType<typeof jsonSchemaOf>;

function withoutDescriptions(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDescriptions);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name, value]) => !(name === 'description' && typeof value === 'string'));
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutDescriptions(value)]));
}
