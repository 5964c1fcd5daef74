import { GraphQLError, GraphQLScalarType, Kind, print } from 'graphql';

/** For times and sizes. GraphQL's `Int` ends at 2^31 - 1, which unix seconds exceed in 2038 and bytes at 2 GiB. */
export const LongScalar = new GraphQLScalarType<number, number>({
  name: 'Long',
  description: 'An integer up to 2^53 - 1, such as a time in unix seconds, which an Int cannot hold after 2038.',
  serialize: (value) => toLong(value, String(value)),
  parseValue: (value) => toLong(value, String(value)),
  parseLiteral: (node) => toLong(node.kind === Kind.INT ? Number(node.value) : null, print(node)),
});

/** The messages are like those of `Int`, which graphql/graphql-errors.ts maps to error codes. */
function toLong(value: unknown, shown: string): number {
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    throw new GraphQLError(`Long cannot represent non-integer value: ${shown}`);
  }
  if (!Number.isSafeInteger(value)) {
    throw new GraphQLError(`Long cannot represent non 53-bit signed integer value: ${shown}`);
  }
  return value;
}
