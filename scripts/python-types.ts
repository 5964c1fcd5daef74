interface Schema {
  $ref?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

interface Document {
  components?: { schemas?: object };
}

const SCALARS: Record<string, string> = {
  string: 'str',
  integer: 'int',
  number: 'float',
  boolean: 'bool',
  null: 'None',
};

const HEAD = `"""The shapes of requests and answers. Generated from openapi.json by \`npm run schema\`; do not edit."""

from __future__ import annotations

from typing import Any, Literal, TypedDict, Union
`;

/**
 * The types of the Python client, from the schemas of openapi.json. Each object becomes a TypedDict, each enum a
 * Literal, each union a Union.
 */
export function pythonTypes({ components }: Document): string {
  const schemas = components?.schemas as Record<string, Schema>;
  const named = Object.entries(schemas);
  const values = named.filter(([, schema]) => schema.enum).map(([name, schema]) => `${name} = ${typeOf(schema)}`);
  const objects = named.filter(([, schema]) => schema.properties).flatMap(([name, schema]) => classes(name, schema));
  // Unions come last, because Python evaluates them where they are, so their members must be defined before.
  const unions = named
    .filter(([, schema]) => schema.oneOf)
    .map(([name, { oneOf }]) => `${name} = Union[${oneOf!.map(typeOf).join(', ')}]`);
  const known = values.length + named.filter(([, { properties, oneOf }]) => properties || oneOf).length;
  if (known !== named.length) throw new Error('A schema is neither an object, nor a set of values, nor a union.');
  return `${[HEAD, values.join('\n'), ...objects, unions.join('\n')].join('\n\n')}\n`;
}

/**
 * Python 3.10 cannot mark a single key as required or optional. So an object with both kinds of keys becomes two
 * classes.
 */
function classes(name: string, schema: Schema): string[] {
  const { properties = {}, required = [] } = schema;
  const of = (isRequired: boolean) =>
    Object.entries(properties).filter(([key]) => required.includes(key) === isRequired);
  const [needed, optional] = [of(true), of(false)];
  if (optional.length === 0) return [classOf(name, '(TypedDict)', needed, schema)];
  if (needed.length === 0) return [classOf(name, '(TypedDict, total=False)', optional, schema)];
  const base = `_${name}Required`;
  return [classOf(base, '(TypedDict)', needed, {}), classOf(name, `(${base}, total=False)`, optional, schema)];
}

function classOf(name: string, bases: string, fields: [string, Schema][], { description }: Schema): string {
  const lines = fields.flatMap(([key, schema]) => {
    if (!/^[a-z_][a-z0-9_]*$/i.test(key)) throw new Error(`${name}.${key} is no name in Python.`);
    return [`${key}: ${typeOf(schema)}`, ...docstring(schema.description)];
  });
  return [`class ${name}${bases}:`, ...[...docstring(description), ...lines].map((line) => `    ${line}`), ''].join(
    '\n',
  );
}

const docstring = (text: string | undefined): string[] =>
  text === undefined ? [] : [`"""${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', ' ')}"""`];

function typeOf(schema: Schema): string {
  const union = schema.oneOf ?? schema.anyOf;
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1)!;
  if (union) return union.map(typeOf).join(' | ');
  if (schema.allOf?.length === 1 && schema.type === undefined) return typeOf(schema.allOf[0]!);
  if (schema.const !== undefined) return `Literal[${literal(schema.const)}]`;
  if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
  if (Array.isArray(schema.type)) return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.type === 'array') return `list[${typeOf(schema.items ?? {})}]`;
  if (schema.type === 'object') {
    const { additionalProperties } = schema;
    return `dict[str, ${typeof additionalProperties === 'object' ? typeOf(additionalProperties) : 'Any'}]`;
  }
  return SCALARS[schema.type ?? ''] ?? 'Any';
}

const literal = (value: unknown): string =>
  typeof value === 'boolean' ? (value ? 'True' : 'False') : value === null ? 'None' : JSON.stringify(value);
