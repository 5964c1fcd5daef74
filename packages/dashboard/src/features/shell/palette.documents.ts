import { graphql } from '../../api/graphql.ts';

/** The page size is a literal, because the cost limit counts a variable as a full page. */
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
