import { registerEnumType } from '@nestjs/graphql';

/** A closed set of words: as they are in REST and in the database, in capitals in GraphQL (`queued`, `QUEUED`). */
export interface Choice<T extends string = string> {
  name: string;
  values: readonly T[];
  /** What GraphQL knows the set by: names in capitals, leading to our words. */
  graphql: Record<string, T>;
}

/**
 * Names a set of words once for both schemas.
 * @param name of the GraphQL enum and the OpenAPI schema; unique in the service
 */
export function defineChoice<const T extends string>(name: string, values: readonly T[], note?: string): Choice<T> {
  const graphql = Object.fromEntries(values.map((value) => [value.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_'), value]));
  const valuesMap = Object.fromEntries(
    Object.entries(graphql).map(([capitals, value]) => [capitals, { description: `\`${value}\` in REST.` }]),
  );
  registerEnumType(graphql, { name, description: note, valuesMap });
  return { name, values, graphql };
}
