import { type ApolloServer, HeaderMap } from '@apollo/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type HttpContext, httpContext } from './graphql-context.ts';
import { KnownQueries, type KnownQuery } from './known-queries.ts';
import { queryEnded } from './operations-plugin.ts';

/**
 * Headers that a page of another origin cannot send unasked, so a request with one of them is no forgery. The key is one: clients
 * such as urql send short queries by GET.
 */
export const PREFLIGHTED = ['apollo-require-preflight', 'x-apollo-operation-name', 'authorization'];

/** The headers that Apollo reads: the form of the body, and what it checks against forgery. */
const READ = ['accept', 'content-type', ...PREFLIGHTED];

/**
 * The handler of the GraphQL route. That of @as-integrations/fastify copies all headers, parses the URL of each request, and
 * Nest copies the context for it: 7 to 10 us of processor time.
 */
export function answerWith(server: ApolloServer) {
  const queries = new KnownQueries();
  return async (request: FastifyRequest, reply: FastifyReply): Promise<string> => {
    const context = httpContext(request, reply);
    const known = queries.find(request);
    const answer = known && (await answerKnown(known, context, reply));
    return answer ?? askApollo(request, context, reply);
  };

  async function askApollo(request: FastifyRequest, context: HttpContext, reply: FastifyReply): Promise<string> {
    const { method, body } = request;
    const { status, headers, ...answer } = await server.executeHTTPGraphQLRequest({
      httpGraphQLRequest: { method, body, headers: headersOf(request), search: searchOf(request) },
      context: async () => context,
    });
    if (answer.body.kind === 'chunked') throw new Error('Nothing here is delivered incrementally.');
    for (const [name, value] of headers) void reply.header(name, value);
    void reply.code(status ?? 200);
    const { plan } = context.query;
    const isAnswered = (status ?? 200) === 200; // and not refused because of `Accept`
    if (plan && isAnswered) queries.keep(request, plan, headers.get('content-type')!);
    return answer.body.string;
  }
}

/** @returns undefined if Apollo has to answer, because the response has errors */
async function answerKnown(
  { plan, variables, contentType }: KnownQuery,
  context: HttpContext,
  reply: FastifyReply,
): Promise<string | undefined> {
  const begunMs = performance.now();
  const data = await plan(variables, context);
  if (!data) {
    context.query.gaveUp = true;
    return undefined;
  }
  queryEnded(begunMs);
  void reply.header('cache-control', 'no-store').header('content-type', contentType);
  return `${JSON.stringify({ data })}\n`;
}

function headersOf({ headers }: FastifyRequest): HeaderMap {
  const read = new HeaderMap();
  for (const name of READ) {
    const value = headers[name];
    if (value) read.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  return read;
}

/** Apollo reads the query string of GET only. */
const searchOf = ({ method, url }: FastifyRequest): string =>
  method === 'GET' ? new URL(url, 'http://localhost').search : '';
