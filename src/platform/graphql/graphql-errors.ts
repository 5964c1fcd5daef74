import { Logger } from '@nestjs/common';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import { renderedErrors } from '../../errors/error-metrics.ts';
import { logServerError, toApiError } from '../../errors/error.filter.ts';
import { traces } from '../observe/traces/traces.ts';
import type { ErrorCode } from '../../errors/catalog.ts';
import { snakeCase } from '../schema/snake-case.ts';

/**
 * Maps messages of graphql-js 16, which has no error codes, to our codes. The group `param` becomes the field's REST
 * name, as in every other error about that field.
 */
const FAULTS: readonly (readonly [RegExp, ErrorCode])[] = [
  [/holds a NUL character/, 'invalid_unicode'],
  [/Field "(?<param>\w+)" is not defined by type/, 'unknown_parameter'],
  [/^Unknown argument "(?<param>\w+)"/, 'unknown_parameter'],
  [/Field "(?:\w+\.)?(?<param>\w+)" of required type .* was not provided/, 'missing_required_parameter'],
  [/^Variable "\$(?<param>\w+)" of required type .* was not provided/, 'missing_required_parameter'],
  [/argument "(?<param>\w+)" of (?:required )?type .* (?:was not provided|is required)/i, 'missing_required_parameter'],
  [/does not exist in "\w+" enum|Enum "\w+" cannot represent/, 'invalid_value'],
  [/cannot represent non (?:32|53)-bit signed integer/, 'value_out_of_range'],
  [/cannot represent|^Expected value of type|must not be null/, 'invalid_type'],
];
/** Matches `Variable "$input" got invalid value 2 at "input.referenceImages[0]"; String cannot represent …` */
const VARIABLE_PATH = /^Variable "\$\w+" got invalid value .* at "\w+?\.(?<param>[\w.[\]]+)";/s;

/** Characters that are kept at each end of a message. */
const KEPT = 1_000;

/**
 * Cuts the middle out of a long message: it may quote a value of a megabyte. The patterns begin again at many places of
 * a text, so their time would grow with the square of its length.
 */
const withoutMiddle = (text: string): string =>
  text.length <= 2 * KEPT ? text : `${text.slice(0, KEPT)}…${text.slice(-KEPT)}`.toWellFormed();

/** For a wrong variable graphql-js quotes the value twice, with the path in between. So each half is cut separately. */
function cut({ message, originalError }: GraphQLError): string {
  const inner = originalError instanceof GraphQLError ? originalError.message : null;
  if (inner === null || !message.endsWith(`; ${inner}`)) return withoutMiddle(message);
  return `${withoutMiddle(message.slice(0, -inner.length - 2))}; ${withoutMiddle(inner)}`;
}

/** The public form of an error that graphql-js found in the document, its variables or its arguments. */
function clientFault(error: GraphQLError): ApiError {
  const message = cut(error);
  const fault = FAULTS.find(([pattern]) => pattern.test(message));
  const param = VARIABLE_PATH.exec(message)?.groups?.param ?? fault?.[0].exec(message)?.groups?.param;
  return new ApiError(fault?.[1] ?? 'invalid_body', {
    message: withoutQuotedValues(message),
    ...(param !== undefined && { param: snakeCase(param) }),
    status: 400,
  });
}

/** The part of a message that quotes a value. The value may be the whole input, including the prompt. */
const QUOTED_INPUT = / got invalid value .*?(?=(?: at "[\w.[\]]+")?; (?:Field|Expected|Enum|Value|[A-Z]\w* cannot))/s;
/** A quoted value without its end, which `withoutMiddle` has cut off. */
const QUOTED_REST = / got invalid value .*/s;
const QUOTED_CHOICE = /Value ".{200,}" does not exist/s;
const QUOTED_SCALAR = /(cannot represent [\w\s-]{1,60}): .*/s;

function withoutQuotedValues(message: string): string {
  return message
    .replace(QUOTED_INPUT, ' got an invalid value')
    .replace(QUOTED_REST, ' got an invalid value.')
    .replace(QUOTED_CHOICE, 'The value does not exist')
    .replace(QUOTED_SCALAR, '$1.');
}

const logger = new Logger('graphql');
/** Matches the names of the schema that graphql-js suggests for a misspelt name. */
const SUGGESTION = / ?Did you mean [^?]*\?/g;

interface FormatOptions {
  requestId: string;
  /** Whether messages may reveal names of the schema. */
  suggestions: boolean;
}

/**
 * An error as GraphQL clients see it, with the code, param and request id of REST. Unexpected errors are masked and
 * logged.
 */
export function formatGraphqlError(thrown: unknown, { requestId, suggestions }: FormatOptions): GraphQLFormattedError {
  const error = publicErrorOf(thrown);
  logServerError(logger, error, requestId);
  traces.set({ 'darkroom.error.code': error.code });
  renderedErrors.inc({ code: error.code });
  const { locations, path } = (thrown instanceof GraphQLError ? thrown : {}) as Partial<GraphQLError>;
  return {
    message: suggestions ? error.message : error.message.replace(SUGGESTION, ''),
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: {
      code: error.code,
      type: error.type,
      param: error.param,
      request_id: requestId,
      ...(error.errors && { errors: error.errors }),
    },
  };
}

/** The status that the same error has over REST. */
export const statusOf = (thrown: unknown): number => publicErrorOf(thrown).status;

function publicErrorOf(thrown: unknown): ApiError {
  const original = originalOf(thrown);
  if (original !== undefined) return toApiError(original);
  const error = thrown as GraphQLError;
  return isServerFault(error) ? new ApiError('internal_error', { cause: error }) : clientFault(error);
}

/**
 * Unwraps what a resolver threw from the one or two errors of graphql-js around it. Undefined for an error of
 * graphql-js itself.
 */
function originalOf(thrown: unknown): unknown {
  let error: unknown = thrown;
  while (error instanceof GraphQLError) error = error.originalError;
  return error;
}

/**
 * Errors of execution have a path. Of these, only those about an argument are the client's fault. Any other error means
 * that a resolved value violates the schema.
 */
function isServerFault(error: GraphQLError): boolean {
  return error.path !== undefined && !error.message.startsWith('Argument ');
}
