import { Logger } from '@nestjs/common';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import { renderedErrors } from '../../errors/error-metrics.ts';
import { logServerError, toApiError } from '../../errors/error.filter.ts';
import { activeSpan } from '../traces/span.ts';
import { clientFault } from './client-faults.ts';

const logger = new Logger('graphql');
/** graphql-js suggests names of the schema for a misspelt one. */
const SUGGESTION = / ?Did you mean [^?]*\?/g;

interface FormatOptions {
  requestId: string;
  /** Whether messages may reveal names of the schema. */
  suggestions: boolean;
}

/** An error as GraphQL clients see it, with the code, param and request id of REST. Unexpected errors are masked and logged. */
export function formatGraphqlError(thrown: unknown, { requestId, suggestions }: FormatOptions): GraphQLFormattedError {
  const error = publicErrorOf(thrown);
  logServerError(logger, error, requestId);
  activeSpan()?.set({ 'darkroom.error.code': error.code });
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

/** Unwraps what a resolver threw from the one or two errors of graphql-js around it. Undefined for an error of graphql-js itself. */
function originalOf(thrown: unknown): unknown {
  let error: unknown = thrown;
  while (error instanceof GraphQLError) error = error.originalError;
  return error;
}

/** After validation only an argument can still be the client's fault. Anything else is a resolved value that violates the schema. */
function isServerFault(error: GraphQLError): boolean {
  return error.path !== undefined && !error.message.startsWith('Argument ');
}
