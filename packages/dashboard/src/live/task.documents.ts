import { graphql, type ResultOf } from '../api/graphql.ts';
import type { TaskRow } from './task-store.ts';

export const TaskRowFields = graphql(`
  fragment TaskRowFields on Task {
    taskId
    sequence
    promptStart
    status
    progress
    kind
    model
    createdAt
    startedAt
    completedAt
    error {
      code
      message
      retryable
      param
    }
    kept
    collection
    usage {
      cost {
        amountMicros
        currency
      }
    }
    result {
      expiresAt
      outputs {
        id
        index
        type
        width
        height
        duration
        contentType
        sizeBytes
        sha256
        kept
        collection
        url
        urlExpiresAt
        preview(width: 512) {
          url
          urlExpiresAt
        }
      }
    }
  }
`);

export const TasksUpdated = graphql(
  `
    subscription TasksUpdated($since: Long) {
      tasksUpdated(since: $since) {
        ...TaskRowFields
      }
    }
  `,
  [TaskRowFields],
);

/** The newest tasks, read while the socket is refused. */
export const NewestTasks = graphql(
  `
    query NewestTasks {
      tasks(first: 50) {
        edges {
          node {
            ...TaskRowFields
          }
        }
      }
    }
  `,
  [TaskRowFields],
);

export function toRow({ result, usage, promptStart, ...task }: ResultOf<typeof TaskRowFields>): TaskRow {
  const [cost, outputs, filesUntil] = [usage?.cost ?? null, result?.outputs ?? [], result?.expiresAt ?? 0];
  return { ...task, prompt: promptStart, cost, outputs, filesUntil };
}
