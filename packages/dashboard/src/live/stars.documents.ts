import { graphql } from '../api/graphql.ts';
import { TaskRowFields } from './task.documents.ts';

export const KeepFile = graphql(`
  mutation KeepFile($id: String!, $collection: String) {
    keepFile(id: $id, collection: $collection) {
      id
    }
  }
`);

export const UnkeepFile = graphql(`
  mutation UnkeepFile($id: String!) {
    unkeepFile(id: $id) {
      id
    }
  }
`);

export const KeepTask = graphql(
  `
    mutation KeepTask($taskId: String!, $collection: String) {
      keepTask(taskId: $taskId, collection: $collection) {
        ...TaskRowFields
      }
    }
  `,
  [TaskRowFields],
);

export const UnkeepTask = graphql(
  `
    mutation UnkeepTask($taskId: String!) {
      unkeepTask(taskId: $taskId) {
        ...TaskRowFields
      }
    }
  `,
  [TaskRowFields],
);

/** The collections of kept tasks and of their outputs, newest tasks first. */
export const KeptNames = graphql(`
  query KeptNames($after: String) {
    tasks(filter: { kept: true }, after: $after, first: 100) {
      edges {
        node {
          collection
          result {
            outputs {
              collection
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
`);
