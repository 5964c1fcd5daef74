import { graphql } from '../api/graphql.ts';
import { useQuery } from './use-query.ts';

const ModelNames = graphql(`
  query ModelNames {
    models {
      id
    }
  }
`);

/** The ids of the models; empty until they are read. */
export function useModelNames(): readonly string[] {
  const { data } = useQuery(ModelNames, {});
  return data?.models.map(({ id }) => id) ?? [];
}
