import { Field, Float, Int } from '@nestjs/graphql';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { GraphQLScalarType } from 'graphql';
import type { Choice } from './choice.ts';
import { JsonScalar } from './json-scalar.ts';

interface ApiFieldOptions {
  /** May be left out. */
  optional?: boolean;
  /** Always there, but may be null. */
  nullable?: boolean;
  example?: unknown;
  /** Bounds of a number, or of the length of a text or list. */
  min?: number;
  max?: number;
}
type Class = new (...args: never[]) => object;
type GraphqlType = Class | GraphQLScalarType | Record<string, string> | typeof String | typeof Boolean;
/** What a list may hold. */
type Item = (() => Class) | Choice | 'string' | 'integer' | 'number';

/**
 * One field of a view or an input, told once for both schemas: OpenAPI by its own name (`task_id`), GraphQL in its own case
 * (`taskId`). Nest reads the GraphQL field off the property, so views need no mapping; inputs are mapped by
 * snake-case-inputs.ts.
 */
export const ApiField = {
  string: (note: string, options: ApiFieldOptions = {}) =>
    field(note, options, () => String, { type: 'string', minLength: options.min, maxLength: options.max }),
  integer: (note: string, options: ApiFieldOptions = {}) =>
    field(note, options, () => Int, { type: 'integer', ...range(options) }),
  number: (note: string, options: ApiFieldOptions = {}) =>
    field(note, options, () => Float, { type: 'number', ...range(options) }),
  boolean: (note: string, options: ApiFieldOptions = {}) => field(note, options, () => Boolean, { type: 'boolean' }),
  oneOf: (choice: Choice, note: string, options: ApiFieldOptions = {}) =>
    field(note, options, () => choice.graphql, { type: 'string', enum: [...choice.values] }),
  object: (type: () => Class, note: string, options: ApiFieldOptions = {}) =>
    field(note, options, type, { type: () => type() }), // swagger calls it late only if its name is `type`
  list: (item: Item, note: string, options: ApiFieldOptions = {}) =>
    field(note, options, () => [graphqlItem(item)], {
      ...openApiItems(item),
      minItems: options.min,
      maxItems: options.max,
    }),
  /** Any JSON object. */
  json: (note: string, options: ApiFieldOptions = {}) =>
    field(note, options, () => JsonScalar, { type: 'object', additionalProperties: true }),
  /** A JSON object with texts as values. */
  map: (note: string, options: ApiFieldOptions = {}) =>
    field(note, options, () => JsonScalar, { type: 'object', additionalProperties: { type: 'string' } }),
};

function field(
  note: string,
  options: ApiFieldOptions,
  graphql: () => GraphqlType | GraphqlType[],
  openApi: object,
): PropertyDecorator {
  const { optional = false, nullable = false, example } = options;
  return (prototype, property) => {
    const name = camelCase(String(property));
    Field(graphql, { name, description: note, nullable: optional || nullable })(prototype, property);
    ApiProperty(
      withoutUndefined({
        ...openApi,
        description: note,
        required: !optional,
        nullable: nullable || undefined,
        example,
      }),
    )(prototype, property);
  };
}

/** `task_id` is `taskId` in GraphQL. */
function camelCase(name: string): string {
  return name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

const SCALARS = { string: String, integer: Int, number: Float };

function graphqlItem(item: Item): GraphqlType {
  if (typeof item === 'string') return SCALARS[item];
  return typeof item === 'function' ? item() : item.graphql;
}

function openApiItems(item: Item): object {
  if (typeof item === 'function') return { type: () => [item()] };
  return {
    isArray: true,
    type: typeof item === 'string' ? item : 'string',
    ...(typeof item === 'object' && { enum: [...item.values] }),
  };
}

function range({ min, max }: ApiFieldOptions): object {
  return { minimum: min, maximum: max };
}

/** Nest's swagger would write the undefined ones as null. */
function withoutUndefined(options: object): ApiPropertyOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ApiPropertyOptions;
}
