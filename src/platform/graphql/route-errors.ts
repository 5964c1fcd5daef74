import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { errorHeaders, toApiError } from '../../errors/error.filter.ts';
import { ApiError } from '../../errors/api-error.ts';
import { noteServerError } from '../../errors/error-metrics.ts';
import type { Config } from '../config/config.ts';
import { parseStrictJson } from '../http/strict-json.ts';
import { DOCUMENT_LIMITS, excessOfLines } from './document-limits.ts';
import { formatGraphqlError } from './graphql-errors.ts';
import { GRAPHQL_PATH } from './graphql-sockets.ts';

/**
 * Gives errors that occur before Apollo has the request (malformed JSON, a body that is too large) the form of GraphQL
 * errors.
 */
export function renderErrorsOnGraphqlRoute(
  fastify: FastifyInstance,
  { graphqlIntrospection }: Pick<Config, 'graphqlIntrospection'>,
): void {
  fastify.addHook('onRoute', (route) => {
    if (route.url !== GRAPHQL_PATH) return;
    route.preValidation = [checkHost, checkVariables, checkLines];
    route.errorHandler = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const error = toApiError(thrown);
      if (error.status >= 500) noteServerError(reply.raw, error.code);
      const formatted = formatGraphqlError(error, { requestId: request.id, suggestions: graphqlIntrospection });
      void reply
        .code(error.status)
        .headers(errorHeaders(error))
        .type('application/json; charset=utf-8')
        .send(JSON.stringify({ errors: [formatted] }));
    };
  });
}

/** Refuses a wrong Host header, because Apollo's route would fail to parse the URL that it builds with the header. */
async function checkHost({ hostname }: FastifyRequest): Promise<void> {
  if (!URL.canParse(`http://${hostname}/`)) {
    throw new ApiError('bad_request', { message: 'The Host header is missing or names no host.' });
  }
}

/** Variables in the query string bypass the strict JSON parser of bodies, so the same rules are applied here. */
async function checkVariables({ query }: FastifyRequest): Promise<void> {
  const { variables } = query as { variables?: unknown };
  if (typeof variables !== 'string') return;
  try {
    parseStrictJson(Buffer.from(variables));
  } catch (error) {
    // Apollo reports malformed JSON itself.
    if (!(error instanceof ApiError) || error.code !== 'invalid_json') throw error;
  }
}

async function checkLines({ body }: FastifyRequest): Promise<void> {
  const { query } = (body ?? {}) as { query?: unknown };
  if (typeof query !== 'string' || query.length < DOCUMENT_LIMITS.lines) return; // too short for so many lines
  const excess = excessOfLines(query);
  if (excess) throw excess;
}
