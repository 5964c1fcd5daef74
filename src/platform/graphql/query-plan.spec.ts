import { jest } from '@jest/globals';
import {
  execute,
  getOperationAST,
  GraphQLEnumType,
  GraphQLError,
  GraphQLID,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  GraphQLSchema,
  GraphQLString,
  parse,
  validate,
} from 'graphql';
import { planOf } from './query-plan.ts';

interface Cat {
  name: unknown;
  age?: unknown;
  mood?: unknown;
  kittens?: unknown;
  mother?: unknown;
}
const tom: Cat = { name: 'Tom', age: 3, mood: 'good', mother: { name: 'Ann', kittens: null } };
const minka: Cat = { name: 'Minka', kittens: [tom, null, { name: 'Kit', mood: 'bad' }] };

const Mood = new GraphQLEnumType({ name: 'Mood', values: { GOOD: { value: 'good' }, BAD: { value: 'bad' } } });
/** As Nest makes them: every field has a resolver. */
const field = (name: keyof Cat, type: GraphQLOutputType) => ({ type, resolve: (cat: Cat) => cat[name] });
const CatType: GraphQLObjectType = new GraphQLObjectType({
  name: 'Cat',
  fields: () => ({
    name: field('name', new GraphQLNonNull(GraphQLString)),
    age: field('age', GraphQLInt),
    mood: field('mood', Mood),
    mother: field('mother', CatType),
    kittens: field('kittens', new GraphQLList(CatType)),
    id: { type: new GraphQLNonNull(GraphQLID), resolve: async ({ name }: Cat) => `cat ${String(name)}` },
    friends: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(CatType))),
      args: { first: { type: GraphQLInt, defaultValue: 1 } },
      resolve: async (_: Cat, { first }: { first: number | null }) => [tom, minka].slice(0, first ?? 2),
    },
    late: {
      type: GraphQLString,
      resolve: () => Promise.reject(new Error('late')),
    },
  }),
});
/** Its fields do not read what they are of. */
const Always = new GraphQLObjectType({ name: 'Always', fields: { one: { type: GraphQLInt, resolve: () => 1 } } });
const By = new GraphQLInputObjectType({ name: 'By', fields: { name: { type: GraphQLString } } });
const Animal = new GraphQLInterfaceType({ name: 'Animal', fields: { name: { type: GraphQLString } } });
const Query = new GraphQLObjectType({
  name: 'Query',
  fields: {
    cat: {
      type: CatType,
      args: { name: { type: new GraphQLNonNull(GraphQLString) } },
      resolve: async (_, { name }: { name: string }, cats: Record<string, Cat>) => cats[name],
    },
    find: {
      type: GraphQLInt,
      args: { by: { type: By } },
      resolve: () => 1,
    },
    refused: { type: Always, resolve: async () => new GraphQLError('refused') },
    refusedToo: { type: GraphQLString, resolve: () => new GraphQLError('refused') },
    animal: { type: Animal, resolve: () => null },
    count: { type: new GraphQLNonNull(GraphQLInt), resolve: () => 2 },
    broken: {
      type: GraphQLInt,
      resolve: () => {
        throw new GraphQLError('broken');
      },
    },
  },
});
const Mutation = new GraphQLObjectType({
  name: 'Mutation',
  fields: { feed: { type: GraphQLInt, resolve: () => 1 } },
});
const schema = new GraphQLSchema({ query: Query, mutation: Mutation });

const cats: Record<string, Cat> = {
  minka,
  nameless: { name: null },
  aged: { name: 'A', age: 'old' },
  moody: { name: 'M', mood: 'odd' },
  loose: { name: 'L', kittens: 'none' },
  mother: { name: 'N', kittens: [{ name: null }] },
};

function prepare(text: string) {
  const document = parse(text);
  expect(validate(schema, document)).toEqual([]);
  return { document, plan: planOf(schema, document, getOperationAST(document)!) };
}

describe('the plan of a query', () => {
  it.each<[string, string, Record<string, unknown>?]>([
    [
      'scalars, enums, objects, lists and nulls',
      '{ cat(name: "minka") { name age kittens { name age mood mother { name kittens { age } } } } }',
    ],
    ['aliases, and type names', '{ b: count a: cat(name: "minka") { __typename x: name y: name } __typename }'],
    [
      'promises, in the order of the document',
      '{ cat(name: "minka") { id name kittens { name id mother { id } } } count }',
    ],
    [
      'variables and defaults',
      'query ($n: String! = "minka", $f: Int) { cat(name: $n) { friends { name } all: friends(first: $f) { name id } } }',
      { f: null },
    ],
    [
      'the same field in several places',
      '{ cat(name: "minka") { kittens { name } ... on Cat { kittens { age } } ...More } } fragment More on Cat { kittens { mood ...Id } ...Id } fragment Id on Cat { id }',
    ],
    ['an object that is not there', '{ cat(name: "nobody") { name } }'],
  ])('gives what graphql-js gives, of %s', async (_, text, variables = {}) => {
    const { document, plan } = prepare(text);
    const expected = await execute({ schema, document, contextValue: cats, variableValues: variables });
    expect(expected.errors).toBeUndefined();
    expect(JSON.stringify(await plan!(variables, cats))).toBe(JSON.stringify(expected.data));
  });

  it('is no larger than its document', async () => {
    const levels = Array.from({ length: 20 }, (_, at) => {
      return `fragment F${at} on Cat { a: mother { ...F${at + 1} } b: mother { ...F${at + 1} } }`;
    });
    const { plan } = prepare(`{ cat(name: "minka") { ...F0 } } ${levels.join(' ')} fragment F20 on Cat { name }`);
    expect(await plan!({}, cats)).toEqual({ cat: { a: null, b: null } }); // without sharing it has a million fields
    const merged = 'fragment A on Cat { mother { name } mother { age } }';
    expect(prepare(`{ cat(name: "minka") { a: mother { ...A } b: mother { ...A } } } ${merged}`).plan).not.toBeNull();
    expect(
      prepare(`{ cat(name: "minka") { a: mother { ...A } b: mother { ...A } c: mother { ...A } } } ${merged}`).plan,
    ).toBeNull();
  });

  it.each<[string, string, Record<string, unknown>?]>([
    ['a resolver throws', '{ count broken }'],
    ['a guard refuses, whose error is the value', '{ refused { one } }'],
    ['a guard refuses an object of which only the type is asked', '{ refused { __typename } }'],
    ['a guard refuses a scalar', '{ refusedToo }'],
    ['a resolver rejects, beside others that wait', '{ cat(name: "minka") { id late kittens { late id } } }'],
    ['a required value is null', '{ cat(name: "nameless") { name } }'],
    ['a required value is null in a list', '{ cat(name: "mother") { kittens { name } } }'],
    ['a value does not have its type', '{ cat(name: "aged") { age } }'],
    ['a value is not one of an enum', '{ cat(name: "moody") { mood } }'],
    ['a value is no list', '{ cat(name: "loose") { kittens { name } } }'],
    ['a variable is missing', 'query ($n: String!) { cat(name: $n) { name } }'],
    [
      'a variable has another type',
      'query ($f: Int) { cat(name: "minka") { friends(first: $f) { name } } }',
      { f: 'x' },
    ],
  ])('gives up when %s', async (_, text, variables = {}) => {
    const { document, plan } = prepare(text);
    const expected = await execute({ schema, document, contextValue: cats, variableValues: variables });
    expect(expected.errors!.length).toBeGreaterThan(0);
    expect(await plan!(variables, cats)).toBeNull();
  });

  it('stops at the first error of a variable, because each one prints the whole value', async () => {
    const { plan } = prepare('query ($by: By) { find(by: $by) }');
    const by = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`unknown${at}`, 1]));
    const printed = jest.fn(() => 'the value');
    Object.defineProperty(by, 'toJSON', { value: printed, enumerable: false });
    expect(await plan!({ by }, cats)).toBeNull();
    expect(printed.mock.calls.length).toBeLessThan(5);
  });

  it.each([
    ['directives', 'query ($w: Boolean!) { count @include(if: $w) }'],
    ['directives of fragments', '{ ... @skip(if: false) { count } }'],
    ['questions about the schema', '{ __schema { queryType { name } } }'],
    ['interfaces', '{ animal { name } }'],
    ['keys that a plain object cannot have', '{ __proto__: count }'],
    ['mutations', 'mutation { feed }'],
  ])('does not exist for %s', (_, text) => {
    expect(prepare(text).plan).toBeNull();
  });
});
