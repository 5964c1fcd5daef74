import { graphql, type ResultOf } from '../../api/graphql.ts';

const EndpointFields = graphql(`
  fragment EndpointFields on WebhookEndpoint {
    id
    url
    description
    events
    status
    disabledReason
    secretHint
    createdAt
    failingSince
    oldSecretUntil
    stats(hours: 24) {
      delivered
      failed
      waiting
      p50Ms
      lastAttemptedAt
      lastStatusCode
      hourly {
        hour
        accepted
        refused
      }
    }
  }
`);

export const Endpoints = graphql(
  `
    query Endpoints {
      webhookEndpoints {
        ...EndpointFields
      }
    }
  `,
  [EndpointFields],
);

export type Endpoint = ResultOf<typeof EndpointFields>;

export const OneEndpoint = graphql(
  `
    query OneEndpoint($id: String!) {
      webhookEndpoint(id: $id) {
        ...EndpointFields
      }
    }
  `,
  [EndpointFields],
);

/** How many events `recover` would send again. */
export const Missed = graphql(`
  query Missed($id: String!, $hours: Int!) {
    webhookEndpoint(id: $id) {
      id
      stats(hours: $hours) {
        failed
        waiting
      }
    }
  }
`);

const DeliveryFields = graphql(`
  fragment DeliveryFields on WebhookDelivery {
    id
    endpointId
    taskId
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
    url
    requestHeaders
  }
`);

export type Delivery = ResultOf<typeof DeliveryFields>;

export const Deliveries = graphql(
  `
    query Deliveries($endpointId: String!, $filter: WebhookDeliveryFilter, $after: String) {
      webhookDeliveries(endpointId: $endpointId, filter: $filter, after: $after, first: 50) {
        edges {
          node {
            ...DeliveryFields
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  [DeliveryFields],
);

export const OneEvent = graphql(
  `
    query OneEvent($id: String!) {
      webhookEvent(id: $id) {
        id
        type
        createdAt
        taskId
        body
        deliveries {
          ...DeliveryFields
        }
      }
    }
  `,
  [DeliveryFields],
);

/**
 * Says only that the log has changed. The page then reads the log again, because filters and pages decide what is
 * shown.
 */
export const Delivered = graphql(`
  subscription Delivered($endpointId: String) {
    webhookDelivered(endpointId: $endpointId) {
      id
    }
  }
`);

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

export const RotateSecret = graphql(`
  mutation RotateSecret($id: String!, $hours: Float!) {
    rotateWebhookSecret(id: $id, keepOldSecretForHours: $hours) {
      id
      secret
    }
  }
`);
