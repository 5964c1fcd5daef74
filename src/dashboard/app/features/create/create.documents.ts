import { graphql, type ResultOf } from '../../api/graphql.ts';
import { TaskRowFields } from '../../live/task.documents.ts';

export const Models = graphql(`
  query Models {
    models {
      id
      kind
      description
      available
      parameters
      lifecycle {
        status
      }
      health {
        status
        medianRunS
      }
      pricing {
        currency
      }
    }
  }
`);

export type Model = ResultOf<typeof Models>['models'][number];

export const CreateGeneration = graphql(
  `
    mutation CreateGeneration($input: CreateGenerationInput!, $key: String) {
      createGeneration(input: $input, idempotencyKey: $key) {
        ...TaskRowFields
      }
    }
  `,
  [TaskRowFields],
);

/** What another task was made from: the start of "Edit as new" and "Vary". */
export const TaskInput = graphql(`
  query TaskInput($taskId: String!) {
    task(taskId: $taskId) {
      model
      input
      metadata
    }
  }
`);
