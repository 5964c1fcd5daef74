import type { ErrorObject } from 'ajv/dist/2020.js';
import { mayUse } from '../auth/access/allowed-models.ts';
import type { Caller } from '../auth/access/caller.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ErrorCode } from '../errors/catalog.ts';
import { paramPath } from '../platform/schema/param-path.ts';
import { catalog } from './catalog.ts';
import type { Model } from './definition/model.ts';
import { sizeFault } from './definition/pixel-rule.ts';
import { isWord } from './declaration/vocabulary.ts';
import type { ParameterRule, ParameterSchema, Scalar } from './definition/parameters.ts';

/** How much of the client's own text a message repeats, in characters. */
const MAX_ECHO = 64;

type Asker = Pick<Caller, 'models'>;

/**
 * Translates a validation error into a public one: the code, the field as the client wrote it, and what is allowed.
 * @param caller messages name other models only if this caller may use them
 */
export function toApiError(fault: ErrorObject, model: Model, body: object, caller: Asker): ApiError {
  const param = paramOf(fault.instancePath, body);
  const schema = fault.parentSchema as ParameterSchema;
  const fail = (code: ErrorCode, message: string, at = param) => new ApiError(code, { param: at, message });

  if (fault.propertyName !== undefined) {
    const key = paramPath([param, fault.propertyName]);
    return fault.keyword === 'maxLength'
      ? fail('string_too_long', `A key of ${param} must be at most ${schema.maxLength} characters long.`, key)
      : fail('invalid_value', `A key of ${param} must not be empty.`, param);
  }

  switch (fault.keyword) {
    case 'required':
      return missing(fault, model);
    case 'dependentRequired': {
      const { missingProperty: needed, property } = fault.params as Record<string, string>;
      return fail('missing_required_parameter', `${needed} is required with ${property}.`, needed);
    }
    case 'additionalProperties':
      return unknownOrUnsupported(fault.params.additionalProperty as string, model, caller);
    case 'type':
      return fail('invalid_type', `${param} must be ${TYPE_WORDS[schema.type]}, not ${describe(fault.data)}.`);
    case 'enum':
      return fail('invalid_value', notAllowed(param, fault.data as Scalar, schema.enum!, model));
    case 'minimum':
    case 'maximum':
      return fail(
        'value_out_of_range',
        `${param} must be from ${schema.minimum} to ${schema.maximum} for ${model.id}, not ${describe(fault.data)}.`,
      );
    case 'maxLength':
      return fail('string_too_long', `${param} must be at most ${schema.maxLength} characters long.`);
    case 'maxItems':
      return fail('too_many_items', `${param} takes at most ${schema.maxItems} for ${model.id}.`);
    case 'maxProperties':
      return fail('too_many_items', `${param} takes at most ${schema.maxProperties} pairs.`);
    case 'minLength':
      return fail('invalid_value', `${param} must not be blank.`);
    case 'pattern':
      if (param === 'size' && model.pixels) {
        return fail('invalid_value', sizeFault(model.pixels, truncated(String(fault.data))));
      }
      return schema.format === 'image'
        ? fail('invalid_url', `${param} must be ${IMAGE_FORMS}.`)
        : fail('invalid_value', `${param} must not be blank.`);
    case 'const':
    case 'not':
      return fail(
        fault.schemaPath.includes('/else/') ? 'unsupported_parameter' : 'invalid_value',
        `${param} ${schema.description}.`,
      );
    default:
      return fail('invalid_value', `${param} is not valid for ${model.id}.`);
  }
}

const IMAGE_FORMS = 'an absolute http(s) URL, the id of a file (file_…), or a data:image/…;base64 URL';

const TYPE_WORDS = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
};

function missing(fault: ErrorObject, model: Model): ApiError {
  const param = fault.params.missingProperty as string;
  const why = fault.schemaPath.includes('/then/') ? ` with ${condition(ruleOf(fault, model))}` : '';
  return new ApiError('missing_required_parameter', { param, message: `${param} is required${why}.` });
}

/** The rule that the request breaks: that of the schema itself, or one in its `allOf`. */
function ruleOf({ schemaPath }: ErrorObject, { parameters }: Model): Partial<ParameterRule> {
  const [, index] = /\/allOf\/([0-9]+)\//.exec(schemaPath) ?? [];
  return index === undefined ? parameters : parameters.allOf![Number(index)]!;
}

/** The condition of a rule in words: `reference_mode "first_frame" and no mask`. */
function condition({ if: { properties = {}, required = [] } = {} }: Partial<ParameterRule>): string {
  const absent = Object.keys(properties).filter((name) => properties[name] === false);
  return [
    ...required.map((name) => {
      const { const: only, enum: some = only === undefined ? [] : [only] } = properties[name] || {};
      return [name, some.map((value) => JSON.stringify(value)).join(' or ')].filter(Boolean).join(' ');
    }),
    ...absent.map((name) => `no ${name}`),
  ].join(' and ');
}

/** The error for a parameter that belongs to another model, is misspelt, or does not exist. */
function unknownOrUnsupported(name: string, model: Model, caller: Asker): ApiError {
  const param = paramPath([truncated(name)]);
  const supported = `${model.id} takes ${Object.keys(model.parameters.properties).join(', ')}.`;
  const takers = catalog.models.filter(
    (other) => Object.hasOwn(other.parameters.properties, name) && mayUse(caller, other),
  );
  if (takers.length > 0 || isWord(name)) {
    const message = `${model.id} does not take ${param}; ${takersInWords(takers)}. ${supported}`;
    return new ApiError('unsupported_parameter', { param, message });
  }
  const similar = Object.keys(model.parameters.properties).find((known) => normalised(known) === normalised(param));
  const hint = similar ? ` Did you mean ${similar}?` : '';
  return new ApiError('unknown_parameter', { param, message: `There is no parameter ${param}.${hint} ${supported}` });
}

/** The most models that a message names. Operators may declare hundreds. */
const MAX_NAMED = 8;

function takersInWords(takers: readonly Model[]): string {
  if (takers.length === 0) return 'no model here does';
  if (takers.length > MAX_NAMED) return `${takers.length} other models do`;
  return `${takers.map(({ id }) => id).join(', ')} does`;
}

function notAllowed(param: string, value: Scalar, allowed: readonly Scalar[], model: Model): string {
  const similar = allowed.find((one) => String(one).toLowerCase() === String(value).toLowerCase());
  const hint = similar ? ` Letter case counts: did you mean "${similar}"?` : '';
  return `${param} must be one of ${allowed.join(', ')} for ${model.id}, not ${describe(value)}.${hint}`;
}

/** A name without case and separators, so that `aspectRatio` matches `aspect_ratio`. */
const normalised = (name: string) => name.replaceAll(/[_-]/g, '').toLowerCase();

const truncated = (text: string) => (text.length <= MAX_ECHO ? text : `${text.slice(0, MAX_ECHO).toWellFormed()}…`);

/** A value that the client sent, for a message: `null`, `"2"`, `an array`. */
function describe(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'string' ? JSON.stringify(truncated(value)) : String(value);
}

/** Converts a JSON pointer to the form of `param`: `/reference_images/2` becomes `reference_images[2]`. */
function paramOf(pointer: string, body: object): string {
  let at: unknown = body;
  const steps = pointer
    .split('/')
    .slice(1)
    .map((escaped) => {
      const key = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
      const step = Array.isArray(at) ? Number(key) : key;
      at = (at as Record<string, unknown>)[key];
      return step;
    });
  return paramPath(steps);
}
