import type { ApolloDriverConfig } from '@nestjs/apollo';
import type { ApolloServerPlugin } from '@apollo/server';
import { ApolloServerPluginCacheControlDisabled } from '@apollo/server/plugin/disabled';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import type { Config } from '../config.ts';
import { newRequestId } from '../http/request-id.ts';
import { currentRequestId } from '../logging/request-context.ts';
import { snakeCaseInputs } from '../schema/snake-case.ts';
import { activeSpan } from '../traces/span.ts';
import { DOCUMENT_LIMITS, limitDocument } from './document-limits.ts';
import { httpContext } from './graphql-context.ts';
import { formatGraphqlError } from './graphql-errors.ts';
import { measureOperations } from './graphql-metrics.ts';
import { GRAPHQL_PATH } from './graphql-sockets.ts';

/**
 * Headers that a page of another origin cannot send unasked, so a request with one of them is no forgery. The key is one: clients
 * such as urql send short queries by GET.
 */
const PREFLIGHTED = ['apollo-require-preflight', 'x-apollo-operation-name', 'authorization'];

/** Apollo serves GraphQL over HTTP. Subscriptions have their own server on the same path (graphql-sockets.ts). */
export function graphqlOptions(config: Config): Omit<ApolloDriverConfig, 'driver'> {
  const introspection = config.graphqlIntrospection;
  return {
    path: GRAPHQL_PATH,
    autoSchemaFile: true, // in memory; schema.graphql is written by `npm run schema`
    sortSchema: true,
    buildSchemaOptions: { skipCheck: true }, // of a schema that tests check; it took 70 ms of each start
    transformSchema: (schema) => describeRoots(snakeCaseInputs(schema)),
    context: httpContext,
    introspection,
    hideSchemaDetailsFromClientErrors: !introspection,
    graphiql: false,
    csrfPrevention: { requestHeaders: PREFLIGHTED },
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    includeStacktraceInErrorResponses: false,
    autoTransformHttpErrors: false,
    validationRules: [limitDocument],
    parseOptions: { maxTokens: DOCUMENT_LIMITS.tokens },
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      forbidStoring,
      refuseSubscriptions,
      measureOperations,
      nameSpans,
    ],
    formatError: (_formatted, error) =>
      formatGraphqlError(error, {
        requestId: currentRequestId.getStore() ?? newRequestId(),
        suggestions: introspection,
      }),
  };
}

/** Apollo's own plugin for this header is disabled: it watches each field of each answer, a sixth of a query's processor time. */
const forbidStoring: ApolloServerPlugin = {
  requestDidStart: async () => ({
    willSendResponse: async ({ response }) => void response.http.headers.set('cache-control', 'no-store'),
  }),
};

/** Apollo would execute a subscription as if it were a query. */
const refuseSubscriptions: ApolloServerPlugin = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation }) => {
      if (operation?.operation !== 'subscription') return;
      const message = 'Subscriptions run over a WebSocket (graphql-transport-ws) at this address, not over HTTP.';
      throw new GraphQLError(message, {
        originalError: new ApiError('bad_request', { message }),
        extensions: { http: { status: 400 } },
      });
    },
  }),
};

/** The route of every operation is the same. Its name is left out, because the client chooses it. */
const nameSpans: ApolloServerPlugin = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation }) => {
      if (!operation) return;
      const span = activeSpan();
      span?.rename(`graphql ${operation.operation}`);
      span?.set({ 'graphql.operation.type': operation.operation });
    },
  }),
};

/** Adds the descriptions of the three root types, for which Nest has no option. */
export function describeRoots(schema: GraphQLSchema): GraphQLSchema {
  const notes = [
    [schema.getQueryType(), 'Everything that can be read.'],
    [schema.getMutationType(), 'Everything that can be changed.'],
    [schema.getSubscriptionType(), 'Everything that can be watched live, over graphql-ws.'],
  ] as const;
  for (const [type, note] of notes) if (type) type.description = note;
  return schema;
}
