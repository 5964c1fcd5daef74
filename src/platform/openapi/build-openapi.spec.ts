import { COMPONENT } from '../schema/component.ts';
import { nameComponents } from './build-openapi.ts';

const mood = { type: 'string', enum: ['good', 'bad'], [COMPONENT]: 'Mood' };

const named = (properties: object, more: object = {}) =>
  nameComponents({ components: { schemas: { ThingView: { type: 'object', properties }, ...more } } }).components
    .schemas;

describe('nameComponents', () => {
  it('makes a component of a named schema, once', () => {
    const schemas = named({ a: mood, b: { ...mood, description: 'its mood' }, c: { type: 'array', items: mood } });
    expect(schemas.Mood).toEqual({ type: 'string', enum: ['good', 'bad'] });
    expect(schemas.Thing.properties.a).toEqual({ $ref: '#/components/schemas/Mood' });
    expect(schemas.Thing.properties.b).toEqual({
      allOf: [{ $ref: '#/components/schemas/Mood' }],
      description: 'its mood',
    });
  });

  it('keeps null beside a named set of values, not in it', () => {
    const schemas = named({ a: { ...mood, type: ['string', 'null'], enum: ['good', 'bad', null] } });
    expect(schemas.Mood).toEqual({ type: 'string', enum: ['good', 'bad'] });
    expect(schemas.Thing.properties.a).toEqual({ anyOf: [{ $ref: '#/components/schemas/Mood' }, { type: 'null' }] });
  });

  it('drops the suffix of views, in references as well', () => {
    const schemas = named({ other: { $ref: '#/components/schemas/OtherView' } }, { OtherView: { type: 'object' } });
    expect(Object.keys(schemas)).toEqual(['Other', 'Thing']);
    expect(schemas.Thing.properties.other).toEqual({ $ref: '#/components/schemas/Other' });
  });

  it('refuses two different schemas of one name', () => {
    expect(() => named({ a: mood, b: { ...mood, enum: ['other'] } })).toThrow('Two schemas are named Mood.');
    expect(() => named({}, { Thing: { type: 'string' } })).toThrow('Two schemas are named Thing.');
  });
});
