import { graphql } from '../api/graphql.ts';

/** A file of the signed-in API key by its id: an output or an upload. */
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
