import { readFileSync } from 'node:fs';
import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';
import { snakeCase } from '../../src/platform/schema/snake-case.ts';

const committed = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const types = Object.values(buildSchema(committed('schema.graphql')).getTypeMap()).filter(
  (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
);

/**
 * Fields of GraphQL alone: REST serves them at paths of their own, or names them after the metadata key of the request,
 * which OpenAPI cannot list.
 */
const GRAPHQL_ONLY = [
  'ApiKey.endpoint',
  'OperatorTask.timeline',
  'Task.children',
  'Task.cover',
  'TaskOutput.preview',
  'Task.id',
  'Task.estimate',
  'Task.promptStart',
  'Task.requestId',
  'Task.sequence',
  'Task.timeline',
  'Task.webhookDeliveries',
  'WebhookEndpoint.stats',
  'UsageResult.metadata',
];

describe('schema.graphql', () => {
  it('describes every type, field, argument and value', () => {
    const undescribed: string[] = [];
    const check = (path: string, { description }: { description?: string | null | undefined }) => {
      if (!description?.trim()) undescribed.push(path);
    };
    for (const type of types) {
      check(type.name, type);
      if (isEnumType(type)) for (const value of type.getValues()) check(`${type.name}.${value.name}`, value);
      if (!isObjectType(type) && !isInputObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        check(`${type.name}.${field.name}`, field);
        if ('args' in field)
          for (const argument of field.args) check(`${type.name}.${field.name}(${argument.name})`, argument);
      }
    }
    expect(undescribed).toEqual([]);
  });

  it('has the fields of OpenAPI in every type that both have', () => {
    const { schemas } = JSON.parse(committed('openapi.json')).components;
    const compared: string[] = [];
    for (const type of types) {
      if (!isObjectType(type) && !isInputObjectType(type)) continue;
      if (schemas[type.name] === undefined) continue;
      const properties = propertiesOf(schemas[type.name], schemas);
      const names = Object.keys(type.getFields()).filter((name) => !GRAPHQL_ONLY.includes(`${type.name}.${name}`));
      const fields = names.map(snakeCase);
      expect([type.name, fields.toSorted()]).toEqual([type.name, properties.toSorted()]);
      compared.push(type.name);
    }
    expect(compared).toEqual(
      expect.arrayContaining(['Model', 'Task', 'WebhookEndpoint', 'CreateWebhookEndpointInput']),
    );
  });
});

interface Schema {
  properties?: object;
  oneOf?: { $ref: string }[];
}

/** The fields of an object, or of all variants of a union. */
function propertiesOf(schema: Schema, schemas: Record<string, Schema>): string[] {
  const variants = schema.oneOf?.map(({ $ref }) => schemas[$ref.split('/').at(-1)!]!) ?? [schema];
  return [...new Set(variants.flatMap(({ properties = {} }) => Object.keys(properties)))];
}
