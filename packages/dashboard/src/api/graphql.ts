import { initGraphQLTada } from 'gql.tada';
import type { introspection } from '../graphql-env.d.ts';

/** Writes typed documents: the types come from schema.graphql. */
export const graphql = initGraphQLTada<{
  introspection: introspection;
  disableMasking: true;
  scalars: { JSON: unknown; Long: number };
}>();

export type { ResultOf, VariablesOf } from 'gql.tada';
