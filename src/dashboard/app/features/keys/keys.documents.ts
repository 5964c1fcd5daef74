import { graphql, type ResultOf } from '../../api/graphql.ts';

const KeyFields = graphql(`
  fragment KeyFields on ApiKey {
    id
    name
    hint
    scopes
    createdAt
    expiresAt
    lastUsedAt
    limits {
      createsPerMinute
      maxRunning
      maxQueued
    }
  }
`);

export type Key = ResultOf<typeof KeyFields>;

export const Keys = graphql(
  `
    query Keys {
      apiKeys(first: 100) {
        edges {
          node {
            ...KeyFields
          }
        }
      }
    }
  `,
  [KeyFields],
);

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
