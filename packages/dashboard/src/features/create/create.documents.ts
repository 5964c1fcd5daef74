import { graphql, type ResultOf } from '../../api/graphql.ts';

export const Models = graphql(`
  query Models {
    models {
      id
      kind
      description
      available
      sandbox
      parameters
      lifecycle {
        status
      }
      health {
        status
        medianRunS
      }
      typical {
        runP50Ms
      }
      pricing {
        currency
      }
    }
  }
`);

export type Model = ResultOf<typeof Models>['models'][number];

/**
 * How long a task of the model usually runs, in seconds: the median of the last successes. Null: unknown. `typical` is
 * null until five tasks have succeeded.
 */
export const typicalRunS = ({ typical, health }: Model): number | null =>
  typical ? typical.runP50Ms / 1_000 : health.medianRunS;

/**
 * Reads only the id, because the live feed brings the task. A repeated request gets the id that the first request got,
 * and the feed brings that task.
 */
export const CreateGeneration = graphql(`
  mutation CreateGeneration($input: CreateGenerationInput!, $key: String) {
    createGeneration(input: $input, idempotencyKey: $key) {
      taskId
    }
  }
`);

/** The input of a task, from which "Edit as new" and "Vary" start. */
export const TaskInput = graphql(`
  query TaskInput($taskId: String!) {
    task(taskId: $taskId) {
      model
      input
      metadata
    }
  }
`);

/** The prompts of the newest tasks of the key, newest first. */
export const PastPrompts = graphql(`
  query PastPrompts {
    tasks(first: 50) {
      edges {
        node {
          taskId
          model
          createdAt
          input
        }
      }
    }
  }
`);

/** What a request would cost at the operator's prices. The query creates nothing. */
export const EstimateCost = graphql(`
  query EstimateCost($input: CreateGenerationInput!) {
    estimateGeneration(input: $input) {
      withinBudget
      cost {
        amountMicros
        currency
        basis
      }
    }
  }
`);

/** Pictures to choose a reference from, newest first. */
export const RecentImages = graphql(`
  query RecentImages($after: String) {
    tasks(filter: { kind: IMAGE, status: SUCCEEDED }, after: $after, first: 30) {
      edges {
        node {
          taskId
          promptStart
          result {
            outputs {
              id
              index
              width
              height
              url
              urlExpiresAt
              preview(width: 256) {
                url
                urlExpiresAt
              }
            }
          }
        }
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`);
