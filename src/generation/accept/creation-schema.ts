import { catalog } from '../../models/catalog.ts';
import { OWN_NAME, widestSchemas } from '../../models/declaration/vocabulary.ts';
import { imageFormat } from '../../models/definition/fields.ts';
import type { Model } from '../../models/definition/model.ts';
import { type ParameterRule, parametersOf, type ParametersSchema } from '../../models/definition/parameters.ts';
import { COMPONENT } from '../../platform/schema/component.ts';

/** The name of a schema: `GptImage2Request` for `gpt-image-2`. */
const nameOf = ({ id }: Model): string =>
  `${id.replaceAll(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Request`;

/**
 * Replaces `false` by `{ not: {} }`, which means the same. Client generators for Go cannot read `false` as a schema.
 */
function withoutFalse<Rule extends Partial<ParameterRule>>(rule: Rule): Rule {
  if (!rule.if?.properties) return rule;
  const properties = Object.entries(rule.if.properties).map(([name, value]) => [
    name,
    value === false ? { not: {} } : value,
  ]);
  return { ...rule, if: { ...rule.if, properties: Object.fromEntries(properties) } };
}

/**
 * Removes `$schema`, the title and the defaults. Some client generators name the type after the title. Some generated
 * clients send every default, even the default `aspect_ratio` together with a `size`, and the service refuses both
 * together. So the descriptions state the defaults.
 */
function forGenerators({ $schema: _schema, title: _title, ...rules }: ParametersSchema) {
  const schema = { ...withoutFalse(rules), ...(rules.allOf && { allOf: rules.allOf.map(withoutFalse) }) };
  const said = Object.entries(schema.properties).map(([name, { default: value, ...field }]) => [
    name,
    value === undefined ? field : { ...field, description: `${field.description} Default: ${JSON.stringify(value)}.` },
  ]);
  return { ...schema, properties: Object.fromEntries(said) as ParametersSchema['properties'] };
}

/**
 * A request for a model that the operator has declared, with all parameters that any declared model may have.
 * `GET /v1/models/{id}` has the exact schema.
 */
function declaredModelRequest(): object {
  const { properties, ...schema } = forGenerators(parametersOf('', { ...widestSchemas(), ...imageFormat }, [], {}));
  return {
    [COMPONENT]: 'DeclaredModelRequest',
    ...schema,
    properties: {
      ...properties,
      seed: { ...properties.seed, format: 'int64' }, // seeds go up to 2^32 - 1
      model: {
        type: 'string',
        description: 'A model that the operator has declared. GET /v1/models/{id} has its exact parameters.',
        not: { enum: catalog.shipped.map(({ id }) => id) },
      },
    },
    propertyNames: { anyOf: [{ enum: Object.keys(properties) }, { pattern: OWN_NAME }] },
    additionalProperties: {
      // Client generators for Go cannot read a list of types.
      anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }],
      description: 'A parameter that only this model has; its name begins with x_.',
    },
  };
}

/**
 * A creation in OpenAPI: one schema for each model that comes with the service, and one for all others. The field
 * `model` says which schema applies. It is not declared as a `discriminator` of OpenAPI, because a `discriminator` must
 * list every model by name.
 */
export const CREATION_SCHEMA = {
  [COMPONENT]: 'GenerationRequest',
  oneOf: [
    ...catalog.shipped.map((model) => ({ [COMPONENT]: nameOf(model), ...forGenerators(model.parameters) })),
    declaredModelRequest(),
  ],
} as object;
