import { graphql, type ResultOf } from '../api/graphql.ts';

export const ResendEvent = graphql(`
  mutation ResendEvent($id: String!, $endpointId: String) {
    redeliverWebhookEvent(id: $id, endpointId: $endpointId) {
      id
      endpoints
    }
  }
`);

export const EventAttempts = graphql(`
  query EventAttempts($id: String!) {
    webhookEvent(id: $id) {
      deliveries {
        id
        trigger
        attemptedAt
        statusCode
        durationMs
        error
      }
    }
  }
`);

export type EventAttempt = ResultOf<typeof EventAttempts>['webhookEvent']['deliveries'][number];
