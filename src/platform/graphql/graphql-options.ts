import type { ApolloDriverConfig } from '@nestjs/apollo';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
} from '@apollo/server/plugin/disabled';
import type { GraphQLSchema } from 'graphql';
import type { Config } from '../config.ts';
import { newRequestId } from '../http/request-id.ts';
import { currentRequestId } from '../logging/request-context.ts';
import { snakeCaseInputs } from '../schema/snake-case.ts';
import { DOCUMENT_LIMITS, limitDocument } from './document-limits.ts';
import { formatGraphqlError } from './graphql-errors.ts';
import { documentStore } from './document-store.ts';
import { GRAPHQL_PATH } from './graphql-sockets.ts';
import { httpContext } from './graphql-context.ts';
import { operationsPlugin } from './operations-plugin.ts';
import { resolveRootsOnce } from './resolve-roots-once.ts';

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
    context: httpContext,
    autoSchemaFile: true, // in memory; schema.graphql is written by `npm run schema`
    sortSchema: true,
    buildSchemaOptions: { skipCheck: true }, // of a schema that tests check; it took 70 ms of each start
    transformSchema: (schema) => describeRoots(resolveRootsOnce(snakeCaseInputs(schema))),
    introspection,
    graphiql: false,
    csrfPrevention: { requestHeaders: PREFLIGHTED },
    allowBatchedHttpRequests: false,
    persistedQueries: false,
    documentStore: documentStore(),
    includeStacktraceInErrorResponses: false,
    autoTransformHttpErrors: false,
    preserveHttpStatusForExecutionErrors: false, // operationsPlugin does it
    validationRules: [limitDocument],
    parseOptions: { maxTokens: DOCUMENT_LIMITS.tokens },
    plugins: [ApolloServerPluginCacheControlDisabled(), ApolloServerPluginInlineTraceDisabled(), operationsPlugin],
    formatError: (_formatted, error) =>
      formatGraphqlError(error, {
        requestId: currentRequestId.getStore() ?? newRequestId(),
        suggestions: introspection,
      }),
  };
}

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
