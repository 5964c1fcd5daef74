import type { GraphQLSchema } from 'graphql';
import type { GraphqlContext } from './graphql-context.ts';

/**
 * Calls the resolver of each root field of a query once a request, although the query may be executed twice: by its plan, and
 * then by graphql-js when the plan gave up (query-plan.ts). Root resolvers count against rate limits.
 */
export function resolveRootsOnce(schema: GraphQLSchema): GraphQLSchema {
  for (const field of Object.values(schema.getQueryType()?.getFields() ?? {})) {
    const { resolve } = field;
    if (!resolve) continue;
    field.resolve = (source, args, context: GraphqlContext, info) => {
      const { resolved } = context;
      const { key } = info.path;
      if (resolved?.has(key)) return resolved.get(key);
      const value = resolve(source, args, context, info);
      resolved?.set(key, value);
      return value;
    };
  }
  return schema;
}
