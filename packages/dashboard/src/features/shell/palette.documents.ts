import { graphql } from '../../api/graphql.ts';

/** The page size is a literal: a variable counts as a full page against the cost limit. */
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
