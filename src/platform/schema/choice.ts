import { registerEnumType } from '@nestjs/graphql';

/** A closed set of values. REST and the database have them as they are (`queued`), GraphQL in capitals (`QUEUED`). */
export interface Choice<T extends string = string> {
  name: string;
  values: readonly T[];
  /** The GraphQL enum: from the name in capitals to the value. */
  graphql: Record<string, T>;
}

/**
 * Declares a set of values once for OpenAPI and GraphQL.
 * @param name the name of the GraphQL enum, unique in the service
 */
export function defineChoice<const T extends string>(
  name: string,
  values: readonly T[],
  description?: string,
): Choice<T> {
  const graphql = Object.fromEntries(values.map((value) => [value.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_'), value]));
  const valuesMap = Object.fromEntries(
    Object.entries(graphql).map(([capitals, value]) => [capitals, { description: `\`${value}\` in REST.` }]),
  );
  registerEnumType(graphql, { name, description, valuesMap });
  return { name, values, graphql };
}
