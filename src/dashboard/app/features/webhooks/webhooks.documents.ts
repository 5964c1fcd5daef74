import { graphql, type ResultOf } from '../../api/graphql.ts';

export const Endpoints = graphql(`
  query Endpoints {
    webhookEndpoints {
      id
      url
      description
      events
      status
      disabledReason
      secretHint
      createdAt
    }
  }
`);

export type Endpoint = ResultOf<typeof Endpoints>['webhookEndpoints'][number];

export const Deliveries = graphql(`
  query Deliveries($endpointId: String!, $after: String) {
    webhookDeliveries(endpointId: $endpointId, after: $after, first: 50) {
      edges {
        node {
          id
          eventId
          eventType
          attempt
          attemptedAt
          durationMs
          statusCode
          error
          nextAttemptAt
          responseSnippet
          trigger
        }
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`);

export type Delivery = ResultOf<typeof Deliveries>['webhookDeliveries']['edges'][number]['node'];

export const CreateEndpoint = graphql(`
  mutation CreateEndpoint($input: CreateWebhookEndpointInput!) {
    createWebhookEndpoint(input: $input) {
      id
      secret
    }
  }
`);

export const UpdateEndpoint = graphql(`
  mutation UpdateEndpoint($id: String!, $input: UpdateWebhookEndpointInput!) {
    updateWebhookEndpoint(id: $id, input: $input) {
      id
      status
    }
  }
`);

export const DeleteEndpoint = graphql(`
  mutation DeleteEndpoint($id: String!) {
    deleteWebhookEndpoint(id: $id) {
      id
    }
  }
`);

export const TestEndpoint = graphql(`
  mutation TestEndpoint($id: String!) {
    testWebhookEndpoint(id: $id) {
      eventId
    }
  }
`);

export const RecoverEndpoint = graphql(`
  mutation RecoverEndpoint($id: String!, $since: Long!) {
    recoverWebhookEndpoint(id: $id, since: $since) {
      events
    }
  }
`);

export const ResendEvent = graphql(`
  mutation ResendEvent($id: String!) {
    redeliverWebhookEvent(id: $id) {
      id
    }
  }
`);

export const RotateSecret = graphql(`
  mutation RotateSecret($id: String!) {
    rotateWebhookSecret(id: $id, keepOldSecretForHours: 24) {
      id
      secret
    }
  }
`);
