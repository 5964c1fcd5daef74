import { graphql, type ResultOf } from '../api/graphql.ts';

/** The facts that the panel of the viewer shows beside the picture. */
export const ShotDetail = graphql(`
  query ShotDetail($taskId: String!) {
    task(taskId: $taskId) {
      input
      parentTaskId
      usage {
        cost {
          amountMicros
          currency
          basis
        }
      }
      children(first: 12) {
        edges {
          node {
            taskId
          }
        }
      }
    }
  }
`);

export type ShotDetailOf = ResultOf<typeof ShotDetail>['task'];
