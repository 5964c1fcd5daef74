import { jsonSchemaOf } from '../../platform/schema/json-schema-of.ts';

/** Keywords that explain a value but do not restrict it. They hold text; a field of the same name holds a schema. */
const EXPLAINING = ['description', 'example', 'format'];

/**
 * The schema of a view without explanations. An agent gets all tools at once, so only the first tool that returns a
 * task explains the fields of tasks.
 */
export const briefSchemaOf = (view: Parameters<typeof jsonSchemaOf>[0]): ReturnType<typeof jsonSchemaOf> =>
  withoutExplanations(jsonSchemaOf(view)) as ReturnType<typeof jsonSchemaOf>;

function withoutExplanations(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutExplanations);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([name, value]) => !(EXPLAINING.includes(name) && typeof value === 'string'),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutExplanations(value)]));
}
