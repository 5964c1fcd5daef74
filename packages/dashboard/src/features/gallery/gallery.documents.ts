import { graphql } from '../../api/graphql.ts';
import { TaskRowFields } from '../../live/task.documents.ts';

export const DeleteFile = graphql(`
  mutation DeleteFile($id: String!) {
    deleteFile(id: $id) {
      id
    }
  }
`);

export const GalleryPage = graphql(
  `
    query GalleryPage($filter: TaskFilter, $after: String) {
      tasks(filter: $filter, after: $after, first: 50) {
        edges {
          node {
            ...TaskRowFields
          }
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  `,
  [TaskRowFields],
);

export const CreateArchive = graphql(`
  mutation CreateArchive($fileIds: [String!]!) {
    createArchive(fileIds: $fileIds) {
      url
    }
  }
`);
