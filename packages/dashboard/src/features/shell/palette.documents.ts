import { graphql } from '../../api/graphql.ts';

/** The page size is a literal, because the service's limit of the query cost counts a variable as the largest page. */
export const RecentTasks = graphql(`
  query RecentTasks {
    tasks(first: 8) {
      edges {
        node {
          taskId
          promptStart(characters: 120)
          status
          progress
          error {
            code
          }
        }
      }
    }
  }
`);
