import { graphql, type ResultOf } from '../api/graphql.ts';

export const CreateShare = graphql(`
  mutation CreateShare($input: CreateShareInput!) {
    createShare(input: $input) {
      url
    }
  }
`);

export const DeleteShare = graphql(`
  mutation DeleteShare($id: String!) {
    deleteShare(id: $id) {
      id
    }
  }
`);

/** The page size is a literal, because the service's limit of the query cost counts a variable as the largest page. */
export const Shares = graphql(`
  query Shares {
    shares(first: 50) {
      edges {
        node {
          id
          url
          createdAt
          expiresAt
          fileIds
          showPrompt
        }
      }
      pageInfo {
        hasNextPage
      }
    }
  }
`);

export type SharedPage = ResultOf<typeof Shares>['shares']['edges'][number]['node'];
