import { GraphQLScalarType, valueFromASTUntyped } from 'graphql';

/** For values whose shape the schema leaves open: resolved inputs, metadata, the parameters of a model. */
export const JsonScalar = new GraphQLScalarType({
  name: 'JSON',
  description: 'Any JSON value.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc8259',
  serialize: (value) => value,
  parseValue: (value) => value,
  parseLiteral: (node, variables) => valueFromASTUntyped(node, variables),
});
