import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLSchema,
  NoSchemaIntrospectionCustomRule,
  parse,
  specifiedRules,
  subscribe,
  validate,
} from 'graphql';
import { makeServer, type Server, type SubscribePayload } from 'graphql-ws';
import { ApiError } from '../../errors/api-error.ts';
import { DOCUMENT_LIMITS, limitDocument } from './document-limits.ts';
import { executeInSpan } from './execute-in-span.ts';
import type { GraphqlContext, SocketHeaders } from './graphql-context.ts';
import { formatGraphqlError } from './graphql-errors.ts';
import { operationEnded } from './graphql-metrics.ts';

/** Operations in flight at once on one socket. The next one gets an `error` message. */
export const MAX_OPERATIONS = 50;

/** The state of one socket, shared by its operations. */
export interface SocketState {
  requestId: string;
  /** Of the handshake. `authorization` in `connection_init` takes precedence. */
  headers: SocketHeaders;
  /** The operations of the socket by id, with the iterator of each subscription. Kept by graphql-ws. */
  subscriptions?: Readonly<Record<string, unknown>>;
}

interface SocketOperationsOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  /** Authenticates a socket. False closes it with code 4403. */
  admit: (state: SocketState) => Promise<boolean>;
}

/** The graphql-ws protocol on the schema. Every operation has the rules, limits and errors of `/graphql` over HTTP. */
export function socketOperations({ schema, introspection, admit }: SocketOperationsOptions): Server<SocketState> {
  const rules = [...specifiedRules, limitDocument, ...(introspection ? [] : [NoSchemaIntrospectionCustomRule])];
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
    onSubscribe: ({ extra, subscriptions }, _id, payload) => {
      if (Object.keys(subscriptions).length > MAX_OPERATIONS) return [tooManyOperations()];
      const document = parseDocument(schema, payload.query, rules);
      return Array.isArray(document) ? document : executionOf(schema, document, payload, extra);
    },
    onNext: ({ extra }, ...[, , , { errors, ...result }]) =>
      errors && { ...result, errors: errors.map((error) => format(error, extra)) },
    onError: ({ extra }, _id, _payload, errors) => errors.map((error) => format(error, extra)),
  });
}

type Answer = ExecutionResult | AsyncGenerator<ExecutionResult, void, void>;

async function measured<Result extends Answer>(
  args: ExecutionArgs,
  run: (args: ExecutionArgs) => Result | Promise<Result>,
): Promise<Result> {
  const begunMs = performance.now();
  const result = await run(args);
  const type = getOperationAST(args.document, args.operationName)?.operation;
  operationEnded(type, 'errors' in result ? result.errors : undefined, begunMs);
  return result;
}

/** Accepts both common spellings, because header names ignore case. */
function authorizationIn(params: Record<string, unknown> | undefined): string | undefined {
  const value = params?.authorization ?? params?.Authorization;
  return typeof value === 'string' ? value : undefined;
}

function parseDocument(
  schema: GraphQLSchema,
  query: string,
  rules: Parameters<typeof validate>[2],
): DocumentNode | GraphQLError[] {
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: DOCUMENT_LIMITS.tokens });
  } catch (error) {
    return [error as GraphQLError];
  }
  const errors = validate(schema, document, rules);
  return errors.length > 0 ? [...errors] : document;
}

function executionOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  payload: SubscribePayload,
  { headers, requestId }: SocketState,
): ExecutionArgs {
  const contextValue: GraphqlContext = { request: { headers, overSocket: true, id: requestId } };
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
