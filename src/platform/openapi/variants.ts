import { ApiExtension } from '@nestjs/swagger';
import { type Json, refTo } from '../schema/component.ts';

const VARIANTS = 'x-variants';

interface Variant {
  /** Name of the component. */
  name: string;
  /** Fields that are always present, although they are optional in the class. */
  requires: readonly string[];
  /** Fields that are never present. */
  without: readonly string[];
}

interface Variants {
  /** The field whose value decides which other fields are present. */
  field: string;
  byValue: Readonly<Record<string, Variant>>;
  /**
   * Further components, by name. Such a component repeats the variant of `value`, but its fields in `optional` may be
   * missing.
   */
  shortened: Readonly<Record<string, { value: string; optional: readonly string[] }>>;
}

/** Makes the class a union in OpenAPI, so that generated types narrow when a program checks the value of `field`. */
export const VariesBy = (field: string, variants: Omit<Variants, 'field'>): ClassDecorator =>
  ApiExtension(VARIANTS, { field, ...variants }) as ClassDecorator;

/** Replaces the schema of each class that has `VariesBy` by a union of its variants. */
export function splitVariants(document: Json): void {
  const { schemas } = document.components;
  for (const [name, schema] of Object.entries<Json>(schemas)) {
    const variants = schema[VARIANTS] as Variants | undefined;
    if (!variants) continue;
    const { [VARIANTS]: _, ...whole } = schema;
    const { field, byValue, shortened } = variants;
    for (const [value, variant] of Object.entries(byValue))
      schemas[variant.name] = narrowed(whole, field, value, variant);
    for (const [short, { value, optional }] of Object.entries(shortened)) {
      const of = schemas[byValue[value]!.name] as { required: string[] };
      schemas[short] = { ...of, required: of.required.filter((each) => !optional.includes(each)) };
    }
    const refs = Object.entries(byValue).map(([value, variant]) => [value, refTo(variant.name)] as const);
    schemas[name] = {
      description: schema.description,
      oneOf: refs.map(([, ref]) => ref),
      discriminator: {
        propertyName: field,
        mapping: Object.fromEntries(refs.map(([value, { $ref }]) => [value, $ref])),
      },
    };
  }
}

function narrowed(whole: Json, field: string, value: string, { requires, without }: Variant): Json {
  const kept = Object.entries(whole.properties).filter(([name]) => !without.includes(name));
  return {
    ...whole,
    properties: Object.fromEntries(
      kept.map(([name, schema]) => [name, name === field ? { type: 'string', const: value } : schema]),
    ),
    required: [...whole.required, ...requires],
  };
}
