import { graphql, type ResultOf } from '../../api/graphql.ts';
import { TaskRowFields } from '../../live/task.documents.ts';

const BatchFields = graphql(`
  fragment BatchFields on Batch {
    id
    status
    progress
    createdAt
    metadata
    requestCounts {
      total
    }
    counts {
      queued
      running
      succeeded
      failed
      cancelled
      invalid
    }
    usage {
      costMicros
      currency
      unpricedTasks
    }
    errors {
      data {
        index
        customId
        message
      }
    }
  }
`);

export type Batch = ResultOf<typeof BatchFields>;

export const Batches = graphql(
  `
    query Batches($status: BatchStatus, $after: String) {
      batches(status: $status, after: $after, first: 20) {
        edges {
          node {
            ...BatchFields
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  [BatchFields],
);

export const OneBatch = graphql(
  `
    query OneBatch($id: String!) {
      batch(id: $id) {
        ...BatchFields
      }
    }
  `,
  [BatchFields],
);

export const BatchUpdated = graphql(
  `
    subscription BatchUpdated($id: String!) {
      batchUpdated(id: $id) {
        ...BatchFields
      }
    }
  `,
  [BatchFields],
);

/** The items that have a task, newest first, each with up to five tasks that were made from it. */
export const BatchItems = graphql(
  `
    query BatchItems($filter: TaskFilter, $after: String) {
      tasks(filter: $filter, after: $after, first: 50) {
        edges {
          node {
            ...TaskRowFields
            batch {
              index
              customId
            }
            children(first: 5) {
              edges {
                node {
                  taskId
                  relation
                }
              }
            }
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  [TaskRowFields],
);

export const CancelBatch = graphql(
  `
    mutation CancelBatch($id: String!) {
      cancelBatch(id: $id) {
        ...BatchFields
      }
    }
  `,
  [BatchFields],
);
