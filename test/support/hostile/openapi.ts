import * as fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { defineOwn } from '../../../src/platform/schema/field-checks.ts';
import type { Attack } from './client.ts';
import { NAUGHTY_STRINGS } from './strings.ts';

interface Schema {
  $ref?: string;
  type?: string;
  const?: unknown;
  enum?: unknown[];
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  items?: Schema;
  format?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
}
interface Operation {
  parameters?: { in: 'path' | 'query' | 'header'; name: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
export interface Route {
  method: string;
  path: string;
  operation: Operation;
  /** Schema of the JSON body, if the route has one. */
  body: Schema | undefined;
}

const document = JSON.parse(readFileSync(new URL('../../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Every operation in the committed openapi.json. */
export const ROUTES: readonly Route[] = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    operation,
    body: operation.requestBody?.content['application/json']?.schema,
  })),
);

/** Longer texts and lists would only take time; other tests cover the limits. */
const MAX_TEXT = 200;
const MAX_ITEMS = 4;

/** Values that a schema allows. */
export function valid(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.$ref) return valid(document.components.schemas[schema.$ref.split('/').at(-1)!]!);
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.oneOf) return fc.oneof(...schema.oneOf.map(valid));
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(valid));
  if (schema.allOf) return valid(schema.allOf[0]!);
  switch (schema.type) {
    case 'object':
      return validObject(schema);
    case 'array':
      return fc.array(valid(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? MAX_ITEMS, MAX_ITEMS),
      });
    case 'integer':
      return fc.integer({
        min: schema.minimum ?? -(2 ** 31),
        max: Math.min(schema.maximum ?? 2 ** 31 - 1, 2 ** 31 - 1),
      });
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e9, max: schema.maximum ?? 1e9, noNaN: true });
    case 'boolean':
      return fc.boolean();
    case 'string':
      if (schema.format === 'image') return fc.webUrl();
      return fc.string({
        unit: 'binary',
        minLength: schema.minLength ?? 0,
        maxLength: Math.min(schema.maxLength ?? MAX_TEXT, MAX_TEXT),
      });
    default:
      return fc.jsonValue();
  }
}

function validObject(schema: Schema): fc.Arbitrary<unknown> {
  const fields = fc.record(
    Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, field]) => [name, valid(field)])),
    { requiredKeys: schema.required ?? [] },
  );
  return typeof schema.additionalProperties === 'object'
    ? fc.dictionary(fc.string({ minLength: 1, maxLength: 20 }), valid(schema.additionalProperties), {
        maxKeys: MAX_ITEMS,
      })
    : fields;
}

/** Values that break types, limits and expectations. */
const wild: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 2 ** 31, 2 ** 53, 1e300, -1e-300, '', [], {}, [[]], [null]),
  fc.constantFrom(...NAUGHTY_STRINGS),
  fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' }),
  fc.constant('x'.repeat(40_000)),
);

/** A valid value in which one property, at any depth, is replaced, added or removed. */
function mutated(schema: Schema): fc.Arbitrary<unknown> {
  const change = fc.record({ at: fc.nat(), what: fc.constantFrom('replace', 'remove', 'add'), value: wild });
  return fc
    .tuple(valid(schema), change, fc.constantFrom('extra', '__proto__', 'constructor', 'toString', ''))
    .map(([value, { at, what, value: thing }, name]) => {
      const places = placesIn(value);
      const place = places[at % (places.length || 1)];
      if (!place) return thing;
      if (what === 'replace') defineOwn(place.holder, place.key, thing);
      else if (what === 'remove') delete place.holder[place.key];
      else defineOwn(place.holder, name, thing);
      return value;
    });
}

interface Place {
  holder: Record<string, unknown>;
  key: string;
}

function placesIn(value: unknown): Place[] {
  if (typeof value !== 'object' || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((key) => [{ holder, key }, ...placesIn(holder[key])]);
}

/** Requests to one route, most of them nearly valid. @param ids ids that exist */
export function attacksOn(route: Route, ids: readonly string[]): fc.Arbitrary<Attack> {
  const { method, path, operation, body } = route;
  const text = (schema: Schema): fc.Arbitrary<string> =>
    fc
      .oneof(valid(schema), wild)
      .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)).slice(0, 3_000));
  const inPath = fc.oneof(fc.constantFrom(...ids), fc.constantFrom(...NAUGHTY_STRINGS), fc.string({ unit: 'binary' }));
  const parameters = (operation.parameters ?? []).filter(({ in: where }) => where === 'query');
  const query = fc.array(
    fc.oneof(
      ...parameters.map(({ name, schema }) => fc.tuple(fc.constant(name), text(schema))),
      fc.tuple(fc.constantFrom('metadata[a]', 'extra', '__proto__', 'limit[]', 'after[a]'), text({ type: 'string' })),
    ),
    { maxLength: 3 },
  );
  return fc
    .record({
      id: inPath,
      query,
      body: body ? fc.oneof(valid(body), mutated(body), mutated(body), wild) : fc.constant(undefined),
    })
    .map(({ id, query, body }) => ({
      method,
      path: `${path.replace(/\{\w+\}/, encode(id).slice(0, 3_000) || '%20')}${queryString(query)}`,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }));
}

/** A query string without long polls, which are slow on purpose. */
function queryString(pairs: [string, string][]): string {
  const kept = pairs.filter(([name, value]) => name !== 'wait' || !/^[1-9]\d?$/.test(value));
  return kept.length === 0 ? '' : `?${kept.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&')}`;
}

export function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
