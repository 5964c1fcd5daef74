import { type DocumentNode, type ExecutionArgs, GraphQLError, type GraphQLSchema, subscribe } from 'graphql';
import { makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import { ApiError } from '../../errors/api-error.ts';
import { executeInSpan } from './execute-in-span.ts';
import type { GraphqlContext, SocketHeaders, SocketRequest } from './graphql-context.ts';
import { formatGraphqlError } from './graphql-errors.ts';
import { measured, parseDocument, rulesOf } from './run-operation.ts';

/** The most operations in flight on one socket. A further operation gets an `error` message. */
export const MAX_OPERATIONS = 50;

/** The state of one socket, shared by its operations. */
export interface SocketState {
  requestId: string;
  /** The headers of the handshake. `authorization` in `connection_init` takes precedence. */
  headers: SocketHeaders;
  /** The operations of the socket by id, with the iterator of each subscription. Kept by graphql-ws. */
  subscriptions?: Readonly<Record<string, unknown>>;
}

interface SocketOperationsOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  /** Authenticates a socket. False closes the socket with code 4403. */
  admit: (state: SocketState) => Promise<boolean>;
  /** See `SocketGate.admitDocument`. */
  admitDocument: (request: SocketRequest, text: string) => Promise<void>;
}

/** A graphql-ws server of the schema. Every operation has the rules, limits and errors of `/graphql` over HTTP. */
export function socketOperations({
  schema,
  introspection,
  admit,
  admitDocument,
}: SocketOperationsOptions): Server<SocketState> {
  const rules = rulesOf(introspection);
  const format = (error: unknown, { requestId }: SocketState) =>
    formatGraphqlError(error, { requestId, suggestions: introspection });

  return makeServer<Record<string, unknown>, SocketState>({
    onConnect: ({ extra, connectionParams, subscriptions }) => {
      extra.subscriptions = subscriptions;
      const authorization = authorizationIn(connectionParams);
      if (authorization !== undefined) extra.headers = { ...extra.headers, authorization };
      return admit(extra);
    },
    execute: (args) => measured(args, executeInSpan),
    subscribe: (args) => measured(args, subscribe),
    onSubscribe: async ({ extra, subscriptions }, _id, payload) => {
      if (Object.keys(subscriptions).length > MAX_OPERATIONS) return [tooManyOperations()];
      const request: SocketRequest = { headers: extra.headers, overSocket: true, id: extra.requestId };
      try {
        await admitDocument(request, payload.query);
      } catch (error) {
        return [new GraphQLError((error as Error).message, { originalError: error as Error })];
      }
      const document = parseDocument(schema, payload.query, rules);
      return Array.isArray(document) ? document : executionOf(schema, document, payload, { request });
    },
    onNext: ({ extra }, ...[, , , { errors, ...result }]) =>
      errors && { ...result, errors: errors.map((error) => format(error, extra)) },
    onError: ({ extra }, _id, _payload, errors) => errors.map((error) => format(error, extra)),
  });
}

/** Accepts both common spellings, because header names ignore case. Undefined if neither is given as a text. */
function authorizationIn(params: Record<string, unknown> | undefined): string | undefined {
  const value = params?.authorization ?? params?.Authorization;
  return typeof value === 'string' ? value : undefined;
}

function executionOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  payload: SubscribePayload,
  contextValue: GraphqlContext,
): ExecutionArgs {
  return {
    schema,
    document,
    contextValue,
    operationName: payload.operationName,
    variableValues: payload.variables,
  };
}

function tooManyOperations(): GraphQLError {
  const message = `This socket already has ${MAX_OPERATIONS} operations in flight, which is the limit.`;
  return new GraphQLError(message, { originalError: new ApiError('rate_limit_exceeded', { message }) });
}
