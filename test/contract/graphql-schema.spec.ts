import { readFileSync } from 'node:fs';
import {
  buildSchema,
  isEnumType,
  isInputObjectType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';

const committed = () => readFileSync(new URL('../../schema.graphql', import.meta.url), 'utf8');

describe('schema.graphql', () => {
  it('describes every type, field, argument and value', () => {
    const undescribed: string[] = [];
    const look = (path: string, { description }: { description?: string | null | undefined }) => {
      if (!description?.trim()) undescribed.push(path);
    };
    for (const type of Object.values(buildSchema(committed()).getTypeMap())) {
      if (isIntrospectionType(type) || isSpecifiedScalarType(type)) continue;
      look(type.name, type);
      if (isEnumType(type)) for (const value of type.getValues()) look(`${type.name}.${value.name}`, value);
      if (!isObjectType(type) && !isInputObjectType(type)) continue;
      for (const field of Object.values(type.getFields())) {
        look(`${type.name}.${field.name}`, field);
        if ('args' in field)
          for (const argument of field.args) look(`${type.name}.${field.name}(${argument.name})`, argument);
      }
    }
    expect(undescribed).toEqual([]);
  });
});
