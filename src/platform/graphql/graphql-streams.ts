import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { execute, type ExecutionResult, getOperationAST, type GraphQLFormattedError, subscribe } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../config/config.ts';
import { PullQueue } from '../run/pull-queue.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { formatGraphqlError } from './graphql-errors.ts';
import { GRAPHQL_PATH } from './graphql-sockets.ts';
import { measured, parseDocument, rulesOf } from './run-operation.ts';

/** One event of the protocol of graphql-sse. */
export interface ProtocolEvent {
  name: 'next' | 'complete';
  json: string;
}

/** Authenticates the request, counts its stream, and answers with the events. */
type SendEvents = (
  request: FastifyRequest,
  reply: FastifyReply,
  open: () => Promise<PullQueue<ProtocolEvent>>,
) => Promise<FastifyReply>;

type Answer = ExecutionResult | AsyncGenerator<ExecutionResult, void, void>;
type Format = (error: unknown) => GraphQLFormattedError;

const COMPLETE: ProtocolEvent = { name: 'complete', json: '' };
/** Event streams must come first in `Accept`, because clients that prefer JSON also accept event streams. */
const ASKS_FOR_EVENTS = /^\s*text\/event-stream\s*(?:[,;]|$)/i;

/**
 * Answers one operation per request with a stream of events: the protocol of graphql-sse with distinct connections. The
 * server library of graphql-sse is not used, because it has no limit for what a slow client has not read.
 */
@Injectable()
export class GraphqlStreams {
  private readonly rules;
  private send: SendEvents | undefined;

  /** The hook is added in the constructor, because lifecycle hooks run after Apollo has added its route. */
  constructor(
    private readonly config: Config,
    private readonly schemaHost: GraphQLSchemaHost,
    host: HttpAdapterHost,
  ) {
    this.rules = rulesOf(config.graphqlIntrospection);
    host.httpAdapter.getInstance<FastifyInstance>().addHook('onRoute', (route) => {
      if (route.url !== GRAPHQL_PATH) return;
      const { handler } = route;
      const serve = this.serve.bind(this);
      route.handler = function (request, reply) {
        return asksForEvents(request) ? serve(request, reply) : handler.call(this, request, reply);
      };
    });
  }

  /** Sets the function that counts and sends the streams. Until then all streams are refused. */
  sentBy(send: SendEvents): void {
    this.send = send;
  }

  private serve(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (!this.send) throw new ApiError('service_unavailable');
    return this.send(request, reply, async () => {
      const format: Format = (error) =>
        formatGraphqlError(error, { requestId: request.id, suggestions: this.config.graphqlIntrospection });
      return queueOf(await this.run(request, reply), format);
    });
  }

  private async run(request: FastifyRequest, reply: FastifyReply): Promise<Answer> {
    const { query, operationName, variables } = paramsOf(request.body);
    const { schema } = this.schemaHost;
    const document = parseDocument(schema, query, this.rules);
    if (Array.isArray(document)) return { errors: document };
    const contextValue: GraphqlContext = { request, reply };
    const isSubscription = getOperationAST(document, operationName)?.operation === 'subscription';
    const args = { schema, document, contextValue, operationName, variableValues: variables };
    return measured<Answer>(args, isSubscription ? subscribe : execute);
  }
}

const asksForEvents = ({ method, headers }: FastifyRequest): boolean =>
  method === 'POST' && ASKS_FOR_EVENTS.test(headers.accept ?? '');

interface Params {
  query: string;
  operationName: string | null | undefined;
  variables: Record<string, unknown> | null | undefined;
}

/** @throws ApiError missing_required_parameter, invalid_type */
function paramsOf(body: unknown): Params {
  const { query, operationName, variables } = (body ?? {}) as Record<string, unknown>;
  if (query === undefined) throw new ApiError('missing_required_parameter', { param: 'query' });
  if (typeof query !== 'string') throw new ApiError('invalid_type', { param: 'query' });
  if (typeof (operationName ?? '') !== 'string') throw new ApiError('invalid_type', { param: 'operationName' });
  if (typeof (variables ?? {}) !== 'object' || Array.isArray(variables)) {
    throw new ApiError('invalid_type', { param: 'variables' });
  }
  return { query, operationName, variables } as Params;
}

/**
 * A queue that the client reads at its own pace. A queue that is closed early ends without `complete`, so the client
 * connects again.
 */
function queueOf(answer: Answer, format: Format): PullQueue<ProtocolEvent> {
  const events = eventsOf(answer, format);
  const queue = new PullQueue<ProtocolEvent>(async () => {
    const { done, value } = await events.next();
    if (done) queue.close();
    return done ? null : value;
  });
  if (isStream(answer)) queue.whenClosed(() => void answer.return());
  return queue;
}

async function* eventsOf(answer: Answer, format: Format): AsyncGenerator<ProtocolEvent, undefined> {
  try {
    if (isStream(answer)) for await (const result of answer) yield nextOf(result, format);
    else yield nextOf(answer, format);
  } catch (error) {
    yield { name: 'next', json: JSON.stringify({ errors: [format(error)] }) };
  }
  yield COMPLETE;
  return undefined;
}

const isStream = (answer: Answer): answer is AsyncGenerator<ExecutionResult, void, void> =>
  Symbol.asyncIterator in answer;

const nextOf = ({ errors, ...result }: ExecutionResult, format: Format): ProtocolEvent => ({
  name: 'next',
  json: JSON.stringify({ ...result, ...(errors && { errors: errors.map(format) }) }),
});
