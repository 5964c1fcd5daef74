import { graphql, type ResultOf } from '../../api/graphql.ts';
import { LimitFields } from './limits.ts';

const KeyFields = graphql(
  `
    fragment KeyFields on ApiKey {
      id
      name
      hint
      scopes
      models
      createdAt
      expiresAt
      lastUsedAt
      limits {
        ...LimitFields
      }
      budgetStatus {
        spentMicros
        reservedMicros
        periodStart
        periodEnd
      }
    }
  `,
  [LimitFields],
);

export type Key = ResultOf<typeof KeyFields>;

export const Keys = graphql(
  `
    query Keys($after: String) {
      apiKeys(first: 100, after: $after) {
        edges {
          node {
            ...KeyFields
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  [KeyFields],
);

/** A key with its usage. `withUsage` is false if the session may not read the usage. */
export const OneKey = graphql(
  `
    query OneKey($id: String!, $since: Long!, $withUsage: Boolean!) {
      apiKey(id: $id) {
        ...KeyFields
      }
      usage(startTime: $since, apiKeyId: $id, bucketWidth: "all", limit: 1) @include(if: $withUsage) {
        currency
        totals {
          tasks
          succeeded
          failed
          costMicros
          unpricedTasks
        }
      }
    }
  `,
  [KeyFields],
);

export const UpdateKey = graphql(`
  mutation UpdateKey($id: String!, $input: UpdateApiKeyInput!) {
    updateApiKey(id: $id, input: $input) {
      id
    }
  }
`);

export const CreateKey = graphql(`
  mutation CreateKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) {
      id
      key
    }
  }
`);

export const RotateKey = graphql(`
  mutation RotateKey($id: String!, $overlapHours: Float) {
    rotateApiKey(id: $id, overlapHours: $overlapHours) {
      id
      key
    }
  }
`);

export const RevokeKey = graphql(`
  mutation RevokeKey($id: String!) {
    revokeApiKey(id: $id) {
      id
    }
  }
`);
