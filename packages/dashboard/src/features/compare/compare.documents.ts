import { graphql, type ResultOf } from '../../api/graphql.ts';
import { TaskRowFields } from '../../live/task.documents.ts';

export const ComparedTask = graphql(
  `
    query ComparedTask($taskId: String!) {
      task(taskId: $taskId) {
        ...TaskRowFields
        input
      }
    }
  `,
  [TaskRowFields],
);

export type Compared = ResultOf<typeof ComparedTask>['task'];
