import type { ApolloServerPlugin, GraphQLResponse } from '@apollo/server';
import { HeaderMap } from '@apollo/server';
import { GraphQLError, type OperationDefinitionNode, type OperationTypeNode } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import { activeSpan } from '../traces/span.ts';
import type { GraphqlContext } from './graphql-context.ts';
import { operationEnded } from './graphql-metrics.ts';
import { planOf } from './query-plan.ts';

/** Everything that is done to each operation over HTTP. One plugin, because Apollo awaits each hook of each plugin. */
export const operationsPlugin: ApolloServerPlugin<GraphqlContext> = {
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
        return data ? responseWith(data) : null;
      },
      willSendResponse: async ({ response, operation, errors }) => {
        const { http, body } = response;
        // Apollo's own plugin for this header is disabled: it watches each field of each answer, a sixth of a query's processor time.
        http.headers.set('cache-control', 'no-store');
        // Nest has a plugin for this, which is disabled too: clients take another status for a failure of the transport.
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
  const message = 'Subscriptions run over a WebSocket (graphql-transport-ws) at this address, not over HTTP.';
  throw new GraphQLError(message, {
    originalError: new ApiError('bad_request', { message }),
    extensions: { http: { status: 400 } },
  });
}

/** The route of every operation is the same. Its name is left out, because the client chooses it. */
function nameSpan(operation: OperationTypeNode): void {
  const span = activeSpan();
  span?.rename(`graphql ${operation}`);
  span?.set({ 'graphql.operation.type': operation });
}
