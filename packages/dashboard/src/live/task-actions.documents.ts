import { graphql } from '../api/graphql.ts';
import { TaskRowFields } from './task.documents.ts';

export const CancelTask = graphql(
  `
    mutation CancelTask($taskId: String!) {
      cancelTask(taskId: $taskId) {
        ...TaskRowFields
      }
    }
  `,
  [TaskRowFields],
);

export const RetryTask = graphql(
  `
    mutation RetryTask($taskId: String!, $key: String) {
      retryTask(taskId: $taskId, idempotencyKey: $key) {
        ...TaskRowFields
      }
    }
  `,
  [TaskRowFields],
);

export const DeleteTask = graphql(`
  mutation DeleteTask($taskId: String!) {
    deleteTask(taskId: $taskId) {
      id
    }
  }
`);
