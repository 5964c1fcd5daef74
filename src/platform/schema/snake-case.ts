import {
  getNamedType,
  getNullableType,
  isInputObjectType,
  isIntrospectionType,
  isListType,
  isObjectType,
  type GraphQLFieldResolver,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';

type Rename = (value: unknown) => unknown;

/**
 * Renames the fields of input objects from GraphQL (`createdAfter`) to REST (`created_after`), which the input classes
 * use. The renaming happens before resolvers and the validation pipe get the arguments. Values of JSON scalars stay as
 * they are. For `transformSchema` of the GraphQL module.
 */
export function snakeCaseInputs(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const inputArgs = field.args.filter((argument) => isInputObjectType(getNamedType(argument.type)));
      if (inputArgs.length === 0) continue;
      const renames = inputArgs.map(({ name, type }) => [name, renamerOf(type)!] as const);
      field.resolve = withRenamedArgs(field.resolve, renames);
      field.subscribe = withRenamedArgs(field.subscribe, renames);
    }
  }
  return schema;
}

function withRenamedArgs<Resolver extends GraphQLFieldResolver<unknown, unknown> | undefined>(
  resolver: Resolver,
  renames: readonly (readonly [name: string, rename: Rename])[],
): Resolver {
  if (resolver === undefined) return resolver;
  const renamed: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    const changed = renames.filter(([name]) => name in args).map(([name, rename]) => [name, rename(args[name])]);
    return resolver(source, { ...args, ...Object.fromEntries(changed) }, context, info);
  };
  return renamed as Resolver;
}

/** Undefined for a type without field names to change. */
function renamerOf(type: GraphQLInputType): Rename | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const rename = renamerOf(nullable.ofType);
    return rename && ((value) => (Array.isArray(value) ? value.map(rename) : value));
  }
  return isInputObjectType(nullable) ? (value) => renameFields(nullable, value) : undefined;
}

function renameFields(type: GraphQLInputObjectType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const fields = type.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const rename = renamerOf(fields[name].type);
      return [snakeCase(name), rename ? rename(inner) : inner];
    }),
  );
}

/** `createdAfter` is `created_after` in REST. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
