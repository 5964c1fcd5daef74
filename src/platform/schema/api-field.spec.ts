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
import { COMPONENT } from './component.ts';
import { ApiField } from './api-field.ts';
import { defineChoice } from './choice.ts';
import { snakeCaseInputs } from './snake-case.ts';

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
    expect(properties.mood).toEqual({
      type: 'string',
      enum: ['very-good', 'bad'],
      description: 'its mood',
      [COMPONENT]: 'Mood',
    });
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
