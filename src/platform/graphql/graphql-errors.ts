import { Logger } from '@nestjs/common';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import { logServerError, toApiError } from '../../errors/error.filter.ts';
import { clientFault } from './client-faults.ts';

const logger = new Logger('graphql');
/** Names of the schema that graphql-js offers instead of a misspelt one. */
const SUGGESTION = / ?Did you mean [^?]*\?/g;

interface FormatOptions {
  requestId: string;
  /** Whether the schema may show in messages. */
  suggestions: boolean;
}

/** A failure as GraphQL clients see it: code, param and request id are those of REST. Unforeseen ones are masked and logged. */
export function formatGraphqlError(thrown: unknown, { requestId, suggestions }: FormatOptions): GraphQLFormattedError {
  const error = faultBehind(thrown);
  logServerError(logger, error, requestId);
  const { locations, path } = (thrown instanceof GraphQLError ? thrown : {}) as Partial<GraphQLError>;
  return {
    message: suggestions ? error.message : error.message.replace(SUGGESTION, ''),
    ...(locations && { locations }),
    ...(path && { path }),
    extensions: { code: error.code, type: error.type, param: error.param, request_id: requestId },
  };
}

function faultBehind(thrown: unknown): ApiError {
  const original = originalOf(thrown);
  if (original !== undefined) return toApiError(original);
  const error = thrown as GraphQLError;
  return isOurs(error) ? new ApiError('internal_error', { cause: error }) : clientFault(error);
}

/** What a resolver threw, out of the one or two errors that graphql-js put around it; undefined when it is theirs alone. */
function originalOf(thrown: unknown): unknown {
  let error: unknown = thrown;
  while (error instanceof GraphQLError) error = error.originalError;
  return error;
}

/** Past validation only an argument can still be the client's fault; anything else is a value of ours that does not fit. */
function isOurs(error: GraphQLError): boolean {
  return error.path !== undefined && !error.message.startsWith('Argument ');
}
