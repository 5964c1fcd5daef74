import type { ApolloDriverConfig } from '@nestjs/apollo';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  type OperationTypeNode,
} from 'graphql';
import type { Config } from '../config/config.ts';
import { newRequestId } from '../http/request.ts';
import { currentRequest, listAnew } from '../observe/logging/request-context.ts';
import { snakeCaseInputs } from '../schema/snake-case.ts';
import { DOCUMENT_LIMITS, limitDocument } from './document-limits.ts';
import { formatGraphqlError } from './graphql-errors.ts';
import { GRAPHQL_PATH } from './graphql-sockets.ts';
import { type GraphqlContext, httpContext } from './graphql-context.ts';
import {
  type ApolloServerOptions,
  type ApolloServerPlugin,
  type BaseContext,
  type GraphQLResponse,
  HeaderMap,
} from '@apollo/server';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../../errors/api-error.ts';
import { activeSpan } from '../observe/traces/span.ts';
import { operationEnded } from './graphql-metrics.ts';
import { planOf } from './query-plan.ts';

type DocumentStore = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

/** Maximum number of documents in the store. The largest document that is allowed takes 530 kB of memory (measured). */
const MAX_DOCUMENTS = 200;
const MAX_CHARACTERS = 2_000_000;

/**
 * Keeps documents that Apollo has parsed and validated. Apollo's own store ignores the text and the tokens of a
 * document when it counts bytes, so clients without a key could fill the memory. `parseOptions` limits the tokens of a
 * document, and `limitDocument` its comments.
 */
export function documentStore(): DocumentStore {
  const documents = new LRUCache<string, DocumentNode>({
    max: MAX_DOCUMENTS,
    maxSize: MAX_CHARACTERS,
    sizeCalculation: ({ loc }) => 1 + (loc?.source.body.length ?? 0),
  });
  return {
    get: async (key) => documents.get(key),
    set: async (key, document) => void documents.set(key, document),
    delete: async (key) => documents.delete(key),
  };
}

/** All hooks for operations over HTTP. They are one plugin, because Apollo awaits each hook of each plugin. */
const operationsPlugin: ApolloServerPlugin<GraphqlContext> = {
  requestDidStart: async () => {
    const begunMs = performance.now();
    return {
      didResolveOperation: async ({ operation }) => {
        if (!operation) return;
        refuseSubscription(operation);
        nameSpan(operation.operation);
      },
      responseForOperation: async ({ schema, document, operation, request, contextValue }) => {
        const plan = operation && planOf(schema, document, operation);
        const data = await plan?.(request.variables, contextValue);
        if (data) return responseWith(data);
        listAnew(); // graphql-js reads the lists again
        return null;
      },
      willSendResponse: async ({ response, operation, errors }) => {
        const { http, body } = response;
        // Clients would take a status other than 200 for a failure of the transport. Nest's plugin for the status is
        // disabled.
        if (body.kind === 'single' && 'data' in body.singleResult) http.status = 200;
        operationEnded(operation?.operation, errors, begunMs);
      },
    };
  },
};

const NO_HEAD = { status: undefined, headers: new HeaderMap() };

const responseWith = (data: Record<string, unknown>): GraphQLResponse => ({
  http: NO_HEAD,
  body: { kind: 'single', singleResult: { data } },
});

/** Apollo would execute a subscription as if it were a query. */
function refuseSubscription({ operation }: OperationDefinitionNode): void {
  if (operation !== 'subscription') return;
  const message =
    'Subscriptions run over a WebSocket (graphql-transport-ws) at this address, or with `Accept: text/event-stream`.';
  throw new GraphQLError(message, {
    originalError: new ApiError('bad_request', { message }),
    extensions: { http: { status: 400 } },
  });
}

/**
 * All operations have the same route, so the span is named by the type of the operation. The name of the operation,
 * which the client chooses, is left out.
 */
function nameSpan(operation: OperationTypeNode): void {
  const span = activeSpan();
  span?.rename(`graphql ${operation}`);
  span?.set({ 'graphql.operation.type': operation });
}

/**
 * A page of another origin cannot send these headers without a preflight, so a request with one of them is no
 * cross-site request forgery. `authorization` is among them, because clients such as urql send short queries by GET.
 */
const PREFLIGHTED = ['apollo-require-preflight', 'x-apollo-operation-name', 'authorization'];

/**
 * Apollo serves queries and mutations over HTTP. WebSockets and event streams have servers of their own on the same
 * path (graphql-sockets.ts, graphql-streams.ts).
 */
export function graphqlOptions(config: Config): Omit<ApolloDriverConfig, 'driver'> {
  const introspection = config.graphqlIntrospection;
  return {
    path: GRAPHQL_PATH,
    context: httpContext,
    autoSchemaFile: true, // in memory; schema.graphql is written by `npm run schema`
    sortSchema: true,
    buildSchemaOptions: { skipCheck: true }, // tests check the schema; the check took 70 ms of each start
    transformSchema: (schema) => describeRoots(resolveRootsOnce(snakeCaseInputs(schema))),
    introspection,
    graphiql: false,
    csrfPrevention: { requestHeaders: PREFLIGHTED },
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    documentStore: documentStore(),
    includeStacktraceInErrorResponses: false,
    autoTransformHttpErrors: false,
    preserveHttpStatusForExecutionErrors: false, // operationsPlugin sets the status
    validationRules: [limitDocument],
    parseOptions: { maxTokens: DOCUMENT_LIMITS.tokens },
    // The plugin for cache control watches each field of each answer, which takes a sixth of a query's processor time.
    plugins: [ApolloServerPluginCacheControlDisabled(), ApolloServerPluginInlineTraceDisabled(), operationsPlugin],
    formatError: (_formatted, error) =>
      formatGraphqlError(error, {
        requestId: currentRequest.getStore()?.id ?? newRequestId(),
        suggestions: introspection,
      }),
  };
}

/** Adds the descriptions of the three root types, for which Nest has no option. */
export function describeRoots(schema: GraphQLSchema): GraphQLSchema {
  const notes = [
    [schema.getQueryType(), 'Everything that can be read.'],
    [schema.getMutationType(), 'Everything that can be changed.'],
    [schema.getSubscriptionType(), 'Everything that can be watched live, over graphql-ws or server-sent events.'],
  ] as const;
  for (const [type, note] of notes) if (type) type.description = note;
  return schema;
}

/**
 * Calls the resolver of each root field of a query once per request, because root resolvers count against rate limits.
 * The query may be executed twice: by its plan, and by graphql-js when the plan gave up (query-plan.ts).
 */
function resolveRootsOnce(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (!resolve) continue;
    field.resolve = (source, args, context: GraphqlContext, info) => {
      const { resolved } = context;
      const { key } = info.path;
      if (resolved?.has(key)) return resolved.get(key);
      const value = resolve(source, args, context, info);
      resolved?.set(key, value);
      return value;
    };
  }
  return schema;
}
