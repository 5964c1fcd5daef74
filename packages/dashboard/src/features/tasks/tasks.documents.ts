import { graphql } from '../../api/graphql.ts';
import { TaskRowFields } from '../../live/task.documents.ts';

/** The page size is a literal, because the service's limit of the query cost counts a variable as the largest page. */
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

/** Finds the tasks that a bulk action will change. Reads only their ids and states. */
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
