import { isDeepStrictEqual } from 'node:util';
import { COMPONENT, type Json, mapObjects, refTo } from './component.ts';

/** Keys that describe a use of a schema and stay where it is used. */
const OF_THE_USE = ['description', 'default', 'example'];

/**
 * Generators name types after components, and invent names for what stands inline. So every schema that has a name becomes a
 * component, and views lose the suffix that only the source needs: `TaskView` is `Task`, as in GraphQL.
 */
export function nameComponents(document: Json): Json {
  const named: Json = {};
  const add = (name: string, schema: Json) => {
    if (name in named && !isDeepStrictEqual(named[name], schema)) throw new Error(`Two schemas are named ${name}.`);
    named[name] = schema;
  };
  const result = mapObjects(document, (object) => {
    if (typeof object.$ref === 'string') return { ...object, $ref: shortened(object.$ref) };
    const { [COMPONENT]: name, ...rest } = object;
    return name === undefined ? object : hoist(name, rest, add);
  });
  const { schemas, ...others } = result.components;
  for (const [name, schema] of Object.entries<Json>(schemas)) add(name.replace(/View$/, ''), schema);
  return { ...result, components: { ...others, schemas: sorted(named) } };
}

const shortened = (ref: string): string => (ref.startsWith('#/components/schemas/') ? ref.replace(/View$/, '') : ref);

/** Adds the component. @returns what stands in its place */
function hoist(name: string, object: Json, add: (name: string, schema: Json) => void): Json {
  if ('in' in object) return { ...object, schema: hoist(name, object.schema, add) };
  if (object.type === 'array') return { ...object, items: hoist(name, object.items, add) };
  const used = Object.entries(object).filter(([key]) => OF_THE_USE.includes(key));
  const schema = Object.fromEntries(Object.entries(object).filter(([key]) => !OF_THE_USE.includes(key)));
  if (!schema.enum?.includes(null)) {
    add(name, schema);
    return used.length === 0 ? refTo(name) : { allOf: [refTo(name)], ...Object.fromEntries(used) };
  }
  add(name, { ...schema, type: 'string', enum: schema.enum.filter((value: unknown) => value !== null) });
  return { anyOf: [refTo(name), { type: 'null' }], ...Object.fromEntries(used) };
}

const sorted = (schemas: Json): Json =>
  Object.fromEntries(Object.entries(schemas).toSorted(([a], [b]) => (a < b ? -1 : 1)));
