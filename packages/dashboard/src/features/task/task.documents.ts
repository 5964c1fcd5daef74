import { graphql, type ResultOf } from '../../api/graphql.ts';
import { TaskRowFields } from '../../live/task.documents.ts';

export const TaskDetail = graphql(
  `
    query TaskDetail($taskId: String!) {
      task(taskId: $taskId) {
        ...TaskRowFields
        input
        metadata
        requestId
        priority
        source
        parentTaskId
        relation
        expiresAt
        approximations {
          param
          requested
          used
        }
        timeline {
          atMs
          type
          attempt
          detail
          provider
        }
        usage {
          images
          videoSeconds
          submits
          provider
          cost {
            amountMicros
            currency
            basis
          }
        }
        children(first: 20) {
          edges {
            node {
              taskId
              model
              relation
              status
            }
          }
        }
      }
    }
  `,
  [TaskRowFields],
);

export type Detail = ResultOf<typeof TaskDetail>['task'];

export const TaskWait = graphql(`
  query TaskWait($taskId: String!) {
    task(taskId: $taskId) {
      estimate {
        position
        waitingFor
        estimatedCompletionAt
      }
    }
  }
`);

/** The schema of a model's parameters, with their defaults and the list of aspect ratios. */
export const ModelParameters = graphql(`
  query ModelParameters($id: String!) {
    model(id: $id) {
      parameters
    }
  }
`);

export const TaskDeliveries = graphql(`
  query TaskDeliveries($taskId: String!) {
    task(taskId: $taskId) {
      webhookDeliveries {
        id
        eventId
        eventType
        endpointId
        attempt
        attemptedAt
        nextAttemptAt
        statusCode
        error
        durationMs
      }
    }
  }
`);
