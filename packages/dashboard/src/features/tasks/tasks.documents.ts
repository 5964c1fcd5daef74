import { graphql } from '../../api/graphql.ts';
import { TaskRowFields } from '../../live/task.documents.ts';

/** The page size is a literal: a variable counts as a full page against the cost limit. */
export const TaskPage = graphql(
  `
    query TaskPage($filter: TaskFilter, $after: String) {
      tasks(filter: $filter, after: $after, first: 50) {
        edges {
          node {
            ...TaskRowFields
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

/** Ids and states alone, to freeze what a bulk action will touch. */
export const TaskIds = graphql(`
  query TaskIds($filter: TaskFilter, $after: String) {
    tasks(filter: $filter, after: $after, first: 100) {
      edges {
        node {
          taskId
          status
        }
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`);

export const CancelTasks = graphql(`
  mutation CancelTasks($taskIds: [String!]) {
    cancelTasks(taskIds: $taskIds) {
      taskId
      outcome
    }
  }
`);
