import { graphql, type ResultOf } from '../api/graphql.ts';

export const TaskCounts = graphql(`
  query TaskCounts($filter: TaskFilter) {
    taskCounts(filter: $filter) {
      queued
      running
      succeeded
      failed
      cancelled
      capped
    }
  }
`);

export type Counts = ResultOf<typeof TaskCounts>['taskCounts'];
