import { graphql } from '../../api/graphql.ts';

export const Usage = graphql(`
  query Usage($startTime: Long!, $bucketWidth: String!, $groupBy: [String!]) {
    usage(startTime: $startTime, bucketWidth: $bucketWidth, groupBy: $groupBy, limit: 31) {
      currency
      data {
        startTime
        results {
          model
          succeeded
          failed
          cancelled
          images
          videoSeconds
          costMicros
        }
      }
      totals {
        tasks
        succeeded
        failed
        cancelled
        images
        videoSeconds
        costMicros
        unpricedTasks
      }
    }
  }
`);
