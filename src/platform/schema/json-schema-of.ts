type Class = new (...args: never[]) => object;
type JsonSchema = Record<string, unknown>;

/** What `ApiField` has declared about a field, as Nest's swagger stores it. */
interface Declared extends JsonSchema {
  type: string | (() => Class | [Class]) | undefined;
  required?: boolean;
  nullable?: boolean;
  isArray?: boolean;
  enum?: readonly string[];
  items?: { type: string; enum?: readonly string[] };
}

const NAMES = 'swagger/apiModelPropertiesArray';
const FIELD = 'swagger/apiModelProperties';

/**
 * The JSON Schema (2020-12) of a view, without references: for interfaces that describe one view alone. It says the
 * same as openapi.json, and a test compares the two.
 */
export function jsonSchemaOf(view: Class): JsonSchema {
  const names = ((Reflect.getMetadata(NAMES, view.prototype) ?? []) as string[]).map((name) => name.slice(1));
  const fields = names.map((name) => [name, Reflect.getMetadata(FIELD, view.prototype, name) as Declared] as const);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, schemaOf(withoutMarks(field))])),
    required: fields.filter(([, { required }]) => required !== false).map(([name]) => name),
  };
}

function schemaOf({ required: _required, nullable = false, isArray, type, ...rest }: Declared): JsonSchema {
  if (isArray) {
    const { enum: values, items, ...about } = rest;
    const item = items ?? { type, ...(values && { enum: values }) };
    return { ...about, type: 'array', items: typeof type === 'function' ? nested(type) : item };
  }
  const inner = typeof type === 'function' ? nested(type) : { type, ...pickEnum(rest) };
  if (!nullable) return { ...rest, ...inner };
  const { enum: _values, ...about } = rest;
  return { ...about, anyOf: [inner, { type: 'null' }] }; // clients that know one type per field refuse a list of types
}

const pickEnum = ({ enum: values }: Pick<Declared, 'enum'>): JsonSchema => (values ? { enum: values } : {});

function nested(type: () => Class | [Class]): JsonSchema {
  const found = type();
  return Array.isArray(found) ? { type: 'array', items: jsonSchemaOf(found[0]) } : jsonSchemaOf(found);
}

/** Removes the marks that are for the OpenAPI file alone: they begin with x-. */
const withoutMarks = (field: Declared): Declared =>
  Object.fromEntries(Object.entries(field).filter(([key]) => !key.startsWith('x-'))) as Declared;
