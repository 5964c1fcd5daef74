import { graphql, type ResultOf } from '../../api/graphql.ts';

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

/** Only the id: the live feed brings the task, also when a repeated request gets its first answer again. */
export const CreateGeneration = graphql(`
  mutation CreateGeneration($input: CreateGenerationInput!, $key: String) {
    createGeneration(input: $input, idempotencyKey: $key) {
      taskId
    }
  }
`);

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
