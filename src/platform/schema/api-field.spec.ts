import { Body, Controller, Module, Post } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  Args,
  GraphQLSchemaBuilderModule,
  GraphQLSchemaFactory,
  InputType,
  ObjectType,
  Query,
  Resolver,
} from '@nestjs/graphql';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { ApiCreatedResponse, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { graphql, printSchema, type GraphQLSchema } from 'graphql';
import { ApiField } from './api-field.ts';
import { defineChoice } from './choice.ts';
import { snakeCaseInputs } from './snake-case.ts';
import { ValidationPipe } from './validation.pipe.ts';

const Mood = defineChoice('Mood', ['very-good', 'bad'], 'how it feels');

@ObjectType('Part')
class PartView {
  @ApiField.string('its name') part_name: string;
}
@ObjectType('Thing')
class ThingView {
  @ApiField.string('identifier', { example: 'thing_1' }) thing_id: string;
  @ApiField.integer('percent, 0 to 100', { min: 0, max: 100 }) progress: number;
  @ApiField.number('seconds', { optional: true }) duration?: number;
  @ApiField.boolean('whether it is there') is_there: boolean;
  @ApiField.oneOf(Mood, 'its mood') mood: string;
  @ApiField.object(() => PartView, 'the main one', { nullable: true }) main_part: PartView | null;
  @ApiField.list(() => PartView, 'all of them') all_parts: PartView[];
  @ApiField.list(Mood, 'its moods', { max: 3 }) moods: string[];
  @ApiField.list('string', 'its tags') tags: string[];
  @ApiField.json('as resolved') input: object;
  @ApiField.map('as given') metadata: Record<string, string>;
}
@InputType()
class PartInput {
  @ApiField.oneOf(Mood, 'its mood') new_mood: string;
}
@InputType()
class ThingInput {
  @ApiField.string('its name') thing_name: string;
  @ApiField.list(() => PartInput, 'its parts') new_parts: PartInput[];
  @ApiField.json('anything', { optional: true }) free_form?: object;
}

const thing: ThingView = {
  thing_id: 'thing_1',
  progress: 5,
  is_there: true,
  mood: 'very-good',
  main_part: { part_name: 'lid' },
  all_parts: [],
  moods: ['bad'],
  tags: ['a'],
  input: { snake_case: 1 },
  metadata: { a: 'b' },
};
let seen: unknown;

@Resolver()
class ThingsResolver {
  @Query(() => ThingView) thing(@Args('input', { nullable: true }) input?: ThingInput): ThingView {
    seen = input;
    return thing;
  }
}
@Controller('things')
class ThingsController {
  @Post() @ApiCreatedResponse({ type: ThingView }) create(@Body() _input: ThingInput): ThingView {
    return thing;
  }
}
@Module({ imports: [GraphQLSchemaBuilderModule], controllers: [ThingsController], providers: [ThingsResolver] })
class ThingsModule {}

describe('ApiField', () => {
  let schema: GraphQLSchema;
  let openApi: any;

  beforeAll(async () => {
    const app = await NestFactory.create(ThingsModule, new FastifyAdapter(), { logger: false });
    await app.init();
    openApi = SwaggerModule.createDocument(app, new DocumentBuilder().setOpenAPIVersion('3.1.0').build());
    const built = await app.get(GraphQLSchemaFactory).create([ThingsResolver]);
    built.getQueryType()!.getFields().thing.resolve = (_source, { input }) => app.get(ThingsResolver).thing(input);
    schema = snakeCaseInputs(built);
    await app.close();
  });

  it('gives GraphQL fields camel case names, descriptions and nullability', () => {
    const sdl = printSchema(schema);
    for (const line of [
      '"""identifier"""\n  thingId: String!',
      'progress: Int!',
      'duration: Float\n',
      'isThere: Boolean!',
      'mood: Mood!',
      'mainPart: Part\n',
      'allParts: [Part!]!',
      'moods: [Mood!]!',
      'tags: [String!]!',
      'input: JSON!',
      'metadata: JSON!',
      'enum Mood {\n  """`very-good` in REST."""\n  VERY_GOOD\n',
      'newParts: [PartInput!]!',
    ]) {
      expect(sdl).toContain(line);
    }
  });

  it('keeps the names in OpenAPI and adds the bounds', () => {
    const { properties, required } = openApi.components.schemas.ThingView;
    expect(properties.thing_id).toEqual({ type: 'string', description: 'identifier', example: 'thing_1' });
    expect(properties.progress).toEqual({
      type: 'integer',
      description: 'percent, 0 to 100',
      minimum: 0,
      maximum: 100,
    });
    expect(properties.mood).toEqual({ type: 'string', enum: ['very-good', 'bad'], description: 'its mood' });
    expect(properties.moods).toMatchObject({
      type: 'array',
      maxItems: 3,
      items: { type: 'string', enum: ['very-good', 'bad'] },
    });
    expect(properties.all_parts).toMatchObject({ type: 'array', items: { $ref: '#/components/schemas/PartView' } });
    expect(properties.main_part.anyOf).toEqual([{ $ref: '#/components/schemas/PartView' }, { type: 'null' }]);
    expect(properties.tags).toMatchObject({ type: 'array', items: { type: 'string' } });
    expect(properties.metadata).toMatchObject({ type: 'object', additionalProperties: { type: 'string' } });
    expect(required).toContain('main_part');
    expect(required).not.toContain('duration');
  });

  it('resolves GraphQL names from the properties of a view', async () => {
    const source = '{ thing { thingId mood moods mainPart { partName } input metadata } }';
    const { data, errors } = await graphql({ schema, source });
    expect(errors).toBeUndefined();
    expect(data!.thing).toEqual({
      thingId: 'thing_1',
      mood: 'VERY_GOOD',
      moods: ['BAD'],
      mainPart: { partName: 'lid' },
      input: { snake_case: 1 },
      metadata: { a: 'b' },
    });
  });

  it('passes inputs with their REST names and leaves JSON values alone', async () => {
    const input = { thingName: 'x', newParts: [{ newMood: 'BAD' }], freeForm: { keepThis: 1 } };
    const read = { thing_name: 'x', new_parts: [{ new_mood: 'bad' }], free_form: { keepThis: 1 } };
    const byVariable = 'query ($input: ThingInput) { thing(input: $input) { thingId } }';
    expect((await graphql({ schema, source: byVariable, variableValues: { input } })).errors).toBeUndefined();
    expect(seen).toEqual(read);
    const inline =
      '{ thing(input: { thingName: "x", newParts: [{ newMood: BAD }], freeForm: { keepThis: 1 } }) { thingId } }';
    expect((await graphql({ schema, source: inline })).errors).toBeUndefined();
    expect(seen).toEqual(read);
    expect((await graphql({ schema, source: '{ thing { thingId } }' })).errors).toBeUndefined();
    expect(seen).toBeUndefined();
  });
});

class CheckedPart {
  @ApiField.number('its weight', { min: 0.5 }) weight: number;
}
class CheckedInput {
  @ApiField.string('a name', {
    optional: true,
    min: 1,
    max: 5,
    pattern: { regex: /\S/, message: 'name must not be blank' },
  })
  name?: string;
  @ApiField.integer('a size', { optional: true, min: 1, max: 9 }) size?: number;
  @ApiField.integer('a page', { optional: true, min: 1, max: 9, fromQuery: true }) page?: number;
  @ApiField.boolean('a switch', { optional: true, nullable: true }) is_on?: boolean | null;
  @ApiField.url('an address', { optional: true, max: 10 }) url?: string;
  @ApiField.oneOf(Mood, 'a mood', { optional: true }) mood?: string;
  @ApiField.list(Mood, 'moods', { optional: true, min: 1, unique: true }) moods?: string[];
  @ApiField.list('string', 'tags', { optional: true, max: 2 }) tags?: string[];
  @ApiField.object(() => CheckedPart, 'a part', { optional: true }) part?: CheckedPart;
  @ApiField.list(() => CheckedPart, 'parts', { optional: true }) parts?: CheckedPart[];
  @ApiField.json('anything', { optional: true }) free?: object;
  @ApiField.map('pairs', { optional: true, nullIsOmitted: true }) pairs?: Record<string, string> | null;
  @ApiField.integer('a time', { optional: true, unpublished: { min: 1, max: 9 } }) time?: number;
}
class RequiredInput {
  @ApiField.string('a name', { nullable: true }) name: string | null;
}

describe('validation by ApiField', () => {
  const check = (value: object, metatype: new () => object = CheckedInput) =>
    new ValidationPipe().transform(value, { type: 'body', metatype });

  it.each([
    {},
    { name: 'abcde', size: 9, is_on: null, url: 'longer than ten', mood: 'bad', free: { any: [1] } },
    { pairs: null, time: 9 },
    { pairs: { constructor: 'a' } },
    { moods: ['bad', 'very-good'], tags: [], part: { weight: 0.5 }, parts: [{ weight: 1 }] },
  ])('accepts %j', (input) => expect(check(input)).toEqual(input));

  it.each([
    [{ name: 5 }, 'invalid_type', 'name', 'name must be a string.'],
    [{ name: null }, 'invalid_type', 'name', 'name must be a string.'],
    [{ name: '' }, 'invalid_value', 'name', 'name must not be blank.'],
    [{ name: ' '.repeat(6) }, 'string_too_long', 'name', 'name must be shorter than or equal to 5 characters.'],
    [{ size: 1.5 }, 'invalid_type', 'size', 'size must be an integer number.'],
    [{ size: '5' }, 'invalid_type', 'size', 'size must be an integer number.'],
    [{ size: 10 }, 'value_out_of_range', 'size', 'size must not be greater than 9.'],
    [{ is_on: 'yes' }, 'invalid_type', 'is_on', 'is_on must be a boolean value.'],
    [{ url: 1 }, 'invalid_type', 'url', 'url must be a string.'],
    [{ mood: 1 }, 'invalid_type', 'mood', 'mood must be a string.'],
    [{ mood: 'x' }, 'invalid_value', 'mood', 'mood must be one of the following values: very-good, bad.'],
    [{ moods: 'bad' }, 'invalid_type', 'moods', 'moods must be an array.'],
    [{ moods: [] }, 'invalid_value', 'moods', 'moods must contain at least 1 elements.'],
    [{ moods: ['bad', 'bad'] }, 'invalid_value', 'moods', "moods: All moods's elements must be unique."],
    [{ moods: ['bad', 'bad', 'bad'] }, 'too_many_items', 'moods', 'moods must contain no more than 2 elements.'],
    [
      { moods: ['bad', 'x'] },
      'invalid_value',
      'moods[1]',
      'moods[1] must be one of the following values: very-good, bad.',
    ],
    [{ tags: ['a', 1] }, 'invalid_type', 'tags[1]', 'tags[1] must be a string.'],
    [{ tags: ['a', 'b', 'c'] }, 'too_many_items', 'tags', 'tags must contain no more than 2 elements.'],
    [{ part: 1 }, 'invalid_type', 'part', 'part must be an object.'],
    [{ part: { weight: 0 } }, 'value_out_of_range', 'part.weight', 'part.weight must not be less than 0.5.'],
    [{ part: { size: 1 } }, 'unknown_parameter', 'part.size', 'There is no parameter part.size.'],
    [{ part: {} }, 'missing_required_parameter', 'part.weight', 'part.weight is required.'],
    [{ parts: [{ weight: 1 }, { weight: 'x' }] }, 'invalid_type', 'parts[1].weight', expect.any(String)],
    [{ free: [] }, 'invalid_type', 'free', 'free must be an object.'],
    [{ free: null }, 'invalid_type', 'free', 'free must be an object.'],
    [{ pairs: { a: 'b', c: 1 } }, 'invalid_type', 'pairs', expect.stringContaining('"c"')],
    [{ time: 10 }, 'value_out_of_range', 'time', 'time must not be greater than 9.'],
  ])('rejects %j', (input, code, param, message) => {
    expect(() => check(input)).toThrow(expect.objectContaining({ code, param, message }));
  });

  it('reads the digits of a query string as a number, and nothing else', () => {
    expect(check({ page: '9' })).toEqual({ page: 9 });
    for (const page of ['1.5', '1e0', ' 1', '', '0x1', ['1', '2']]) {
      expect(() => check({ page })).toThrow(expect.objectContaining({ code: 'invalid_type', param: 'page' }));
    }
    expect(() => check({ page: '10' })).toThrow(expect.objectContaining({ code: 'value_out_of_range' }));
  });

  it('gathers the pairs of a query string', () => {
    const query = (value: object) => new ValidationPipe().transform(value, { type: 'query', metatype: CheckedInput });
    expect(query({ 'pairs[a]': 'b', 'pairs[c]': 'd' })).toEqual({ pairs: { a: 'b', c: 'd' } });
    expect(() => query({ pairs: 'a' })).toThrow(expect.objectContaining({ code: 'unknown_parameter' }));
  });

  it('makes a new instance for every empty input', () => {
    const inputs = [check({}), check({}), check({})];
    expect(new Set(inputs).size).toBe(3);
    expect(inputs).toEqual(Array.from({ length: 3 }, () => new CheckedInput()));
  });

  it('distinguishes null from a missing field', () => {
    expect(check({ name: null }, RequiredInput)).toEqual({ name: null });
    expect(() => check({}, RequiredInput)).toThrow(expect.objectContaining({ code: 'missing_required_parameter' }));
  });
});
