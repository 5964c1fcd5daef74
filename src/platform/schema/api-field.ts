import { applyDecorators } from '@nestjs/common';
import { Field, Float, ID, Int } from '@nestjs/graphql';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import type { GraphQLScalarType } from 'graphql';
import { COMPONENT } from './component.ts';
import type { Choice } from './choice.ts';
import { type Bounds, checks, type Item, mayBeLeftOut, mayBeNull } from './field-checks.ts';
import { JsonScalar } from './json-scalar.ts';
import { LongScalar } from './long-scalar.ts';

interface FieldOptions {
  /** May be left out. */
  optional?: boolean;
  /** May be null. */
  nullable?: boolean;
  /**
   * Null passes validation like an omitted field, as GraphQL clients expect. OpenAPI does not mention that null is
   * allowed.
   */
  nullIsOmitted?: boolean;
  default?: unknown;
  example?: unknown;
}

/** Options of a field that may be left out. GraphQL clients may send null instead. */
export const OMITTABLE = { optional: true, nullIsOmitted: true } satisfies FieldOptions;

/** `min` and `max` bound a number, or the length of a text or a list. */
type BoundedOptions = FieldOptions & Bounds;
interface StringOptions extends BoundedOptions {
  /** `message` begins with the name of the field. `regex` must mean the same without flags: JSON Schema has none. */
  pattern?: { regex: RegExp; message: string };
}
interface IntegerOptions extends BoundedOptions {
  /** For a field of a query string: reads digits as a number. */
  fromQuery?: boolean;
}
interface BooleanOptions extends FieldOptions {
  /** For a field of a query string: reads `true` and `false`. */
  fromQuery?: boolean;
}
interface ObjectOptions extends FieldOptions {
  /** Only for the description of the API. The code that reads the object refuses an object with fewer fields. */
  minProperties?: number;
}
interface ListOptions extends BoundedOptions {
  /** Whether each entry may occur only once. */
  unique?: boolean;
  /** Pattern of each entry, for a list of texts. */
  pattern?: { regex: RegExp; message: string };
}

type Class = new (...args: never[]) => object;
type GraphqlType = Class | GraphQLScalarType | Record<string, string> | typeof String | typeof Boolean;

/** One kind of field in GraphQL, in OpenAPI and in validation. */
interface Kind {
  graphql: () => GraphqlType | GraphqlType[];
  openApi: object;
  checks: PropertyDecorator[];
}

/**
 * Declares one field of a view or an input, for OpenAPI, GraphQL and validation. In OpenAPI the field has the name of
 * its property (`task_id`), in GraphQL this name in camel case (`taskId`). The validation pipe checks the field's type
 * and bounds. Nest reads a GraphQL field from the property, so views need no mapping. snake-case.ts maps inputs. Views
 * are never validated, so their rules stay unused.
 */
export const ApiField = {
  string: (description: string, options: StringOptions = {}) =>
    field(description, options, {
      graphql: () => String,
      openApi: {
        type: 'string',
        minLength: options.min,
        maxLength: options.max,
        pattern: options.pattern?.regex.source,
      },
      checks: checks.string(options),
    }),
  /** The global id of an object that implements `Node`. */
  id: (description: string, options: FieldOptions = {}) =>
    field(description, options, { graphql: () => ID, openApi: { type: 'string' }, checks: checks.string({}) }),
  /** A text that is always the same, such as the type of an object. */
  constant: (value: string) =>
    field(
      `always "${value}"`,
      {},
      {
        graphql: () => String,
        openApi: { type: 'string', const: value },
        checks: checks.string({}),
      },
    ),
  /** A URL. Only its type is checked here. The outbound rules check length and form, with codes of their own. */
  url: (description: string, options: BoundedOptions = {}) =>
    field(description, options, {
      graphql: () => String,
      openApi: { type: 'string', minLength: options.min, maxLength: options.max },
      checks: checks.string({}),
    }),
  integer: (description: string, options: IntegerOptions = {}) =>
    field(description, options, {
      graphql: () => Int,
      openApi: { type: 'integer', minimum: options.min, maximum: options.max },
      checks: checks.integer(options),
    }),
  /** An integer that can exceed 2^31: a time, or a size in bytes. */
  long: (description: string, options: IntegerOptions = {}) =>
    field(description, options, {
      graphql: () => LongScalar,
      openApi: { type: 'integer', format: 'int64', minimum: options.min, maximum: options.max },
      checks: checks.integer(options),
    }),
  number: (description: string, options: BoundedOptions = {}) =>
    field(description, options, {
      graphql: () => Float,
      openApi: { type: 'number', minimum: options.min, maximum: options.max },
      checks: checks.number(options),
    }),
  boolean: (description: string, options: BooleanOptions = {}) =>
    field(description, options, {
      graphql: () => Boolean,
      openApi: { type: 'boolean' },
      checks: checks.boolean(options),
    }),
  oneOf: (choice: Choice, description: string, options: FieldOptions = {}) =>
    field(description, options, {
      graphql: () => choice.graphql,
      openApi: { type: 'string', enum: [...choice.values], [COMPONENT]: choice.name },
      checks: checks.oneOf(choice),
    }),
  object: (type: () => Class, description: string, { minProperties, ...options }: ObjectOptions = {}) =>
    field(description, options, {
      graphql: type,
      openApi: { type: () => type(), minProperties }, // Nest's swagger resolves the class lazily only if the function is named `type`
      checks: checks.object(type),
    }),
  list: (item: Item, description: string, options: ListOptions = {}) =>
    field(description, options, {
      graphql: () => [graphqlItem(item)],
      openApi: {
        ...openApiItems(item, options.pattern),
        minItems: options.min,
        maxItems: options.max,
        uniqueItems: options.unique,
      },
      checks: checks.list(item, options),
    }),
  /** Any JSON object. */
  json: (description: string, options: FieldOptions = {}) =>
    field(description, options, {
      graphql: () => JsonScalar,
      openApi: { type: 'object', additionalProperties: true },
      checks: checks.anyObject(),
    }),
  /** A JSON object whose values are texts; in a query string `name[key]=value`. */
  map: (description: string, options: FieldOptions = {}) =>
    field(description, options, {
      graphql: () => JsonScalar,
      openApi: { type: 'object', additionalProperties: { type: 'string' } },
      checks: checks.textMap(),
    }),
};

function field(
  description: string,
  { optional = false, nullable = false, nullIsOmitted = false, ...published }: FieldOptions,
  { graphql, openApi, checks }: Kind,
): PropertyDecorator {
  const { example, default: byDefault } = published;
  const property = {
    ...openApi,
    description,
    required: !optional,
    nullable: nullable || undefined,
    default: byDefault,
    example,
  };
  return applyDecorators(
    (prototype: object, name: string | symbol) =>
      Field(graphql, { name: camelCase(String(name)), description, nullable: optional || nullable })(prototype, name),
    ApiProperty(withoutUndefined(property)),
    ...(optional ? [mayBeLeftOut()] : []),
    ...(nullable || nullIsOmitted ? [mayBeNull()] : []),
    ...checks,
  );
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

function openApiItems(item: Item, pattern: ListOptions['pattern']): object {
  if (typeof item === 'function') return { type: () => [item()] };
  if (pattern) return { type: 'array', items: { type: 'string', pattern: pattern.regex.source } };
  return {
    isArray: true,
    type: typeof item === 'string' ? item : 'string',
    ...(typeof item === 'object' && { enum: [...item.values], [COMPONENT]: item.name }),
  };
}

/** Nest's swagger would write undefined options as null. */
function withoutUndefined(options: object): ApiPropertyOptions {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as ApiPropertyOptions;
}
