import { graphql, type ResultOf } from '../../api/graphql.ts';

export const Usage = graphql(`
  query Usage($startTime: Long!, $bucketWidth: String!, $groupBy: [String!], $apiKeyId: String, $timezone: String) {
    usage(
      startTime: $startTime
      bucketWidth: $bucketWidth
      groupBy: $groupBy
      apiKeyId: $apiKeyId
      timezone: $timezone
      limit: 31
    ) {
      currency
      data {
        startTime
        results {
          model
          errorCode
          apiKeyId
          tasks
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

export type UsagePages = ResultOf<typeof Usage>['usage'];

export const UsageKeys = graphql(`
  query UsageKeys($after: String) {
    apiKeys(first: 100, after: $after) {
      edges {
        node {
          id
          name
          limits {
            budget {
              amountMicros
              period
              softPercent
            }
          }
          budgetStatus {
            spentMicros
            reservedMicros
            periodEnd
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

export type UsageKey = ResultOf<typeof UsageKeys>['apiKeys']['edges'][number]['node'];
