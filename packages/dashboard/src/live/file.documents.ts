import { graphql } from '../api/graphql.ts';

/** An own file by its id: an output or an upload. */
export const OwnFile = graphql(`
  query OwnFile($id: String!) {
    file(id: $id) {
      id
      taskId
      url
      urlExpiresAt
      contentType
      width
      height
    }
  }
`);
