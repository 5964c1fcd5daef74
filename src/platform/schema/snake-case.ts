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

type Reader = (value: unknown) => unknown;

/**
 * Input objects arrive under their GraphQL names (`createdAfter`), while our input classes carry those of REST
 * (`created_after`). This puts the names right once, before a resolver or the validation pipe sees the arguments; values
 * of JSON scalars stay as they are. For `transformSchema` of the GraphQL module.
 */
export function snakeCaseInputs(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      const taken = field.args.filter((argument) => isInputObjectType(getNamedType(argument.type)));
      if (taken.length === 0) continue;
      const readers = taken.map(({ name, type }) => [name, reader(type)!] as const);
      field.resolve = renaming(field.resolve, readers);
      field.subscribe = renaming(field.subscribe, readers);
    }
  }
  return schema;
}

function renaming<Resolver extends GraphQLFieldResolver<unknown, unknown> | undefined>(
  resolver: Resolver,
  readers: readonly (readonly [name: string, read: Reader])[],
): Resolver {
  if (resolver === undefined) return resolver;
  const renamed: GraphQLFieldResolver<unknown, unknown> = (source, args, context, info) => {
    const named = readers.filter(([name]) => name in args).map(([name, read]) => [name, read(args[name])]);
    return resolver(source, { ...args, ...Object.fromEntries(named) }, context, info);
  };
  return renamed as Resolver;
}

/** undefined where there is nothing to rename. */
function reader(type: GraphQLInputType): Reader | undefined {
  const nullable = getNullableType(type);
  if (isListType(nullable)) {
    const read = reader(nullable.ofType);
    return read && ((value) => (Array.isArray(value) ? value.map(read) : value));
  }
  return isInputObjectType(nullable) ? (value) => renameFields(nullable, value) : undefined;
}

function renameFields(type: GraphQLInputObjectType, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const fields = type.getFields();
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const read = reader(fields[name].type);
      return [snakeCase(name), read ? read(inner) : inner];
    }),
  );
}

/** `createdAfter` is `created_after` in REST. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
