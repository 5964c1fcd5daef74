import { Logger } from '@nestjs/common';
import { buildSchema, graphql, GraphQLError } from 'graphql';
import { ApiError } from '../../errors/api-error.ts';
import { formatGraphqlError } from './graphql-errors.ts';

const schema = buildSchema(`
  enum Mood { GOOD BAD }
  input Cat { fullName: String! age: Int mood: Mood parts: [String!] }
  type Query { cat(input: Cat!): Int broken: Int! mood: Mood }
`);
const options = { requestId: 'req_1', suggestions: true };
async function refusal(source: string, variableValues: Record<string, unknown> = {}, rootValue: object = {}) {
  const { errors } = await graphql({ schema, source, variableValues, rootValue });
  const { message, extensions } = formatGraphqlError(errors![0], options);
  return { message, ...(extensions as { code: string; param: string | null; request_id: string }) };
}

describe('a GraphQL error', () => {
  beforeAll(() => Logger.overrideLogger(false)); // masked errors are logged

  it('has the code, param and request id of the thrown error', async () => {
    const cat = () => {
      throw new ApiError('invalid_value', { param: 'reference_images[2]', message: 'No.' });
    };
    expect(await refusal('{ cat(input: { fullName: "x" }) }', {}, { cat })).toMatchObject({
      message: 'No.',
      code: 'invalid_value',
      type: 'invalid_request_error',
      param: 'reference_images[2]',
      request_id: 'req_1',
    });
  });

  it('reveals nothing of an unexpected error', async () => {
    const cat = () => {
      throw new Error('password=hunter2');
    };
    const shown = await refusal('{ cat(input: { fullName: "x" }) }', {}, { cat });
    expect(shown).toMatchObject({ code: 'internal_error', message: 'Something went wrong on our side.' });
    expect(await refusal('{ broken }')).toMatchObject({ code: 'internal_error' }); // null in a non-null field
    expect(await refusal('{ mood }', {}, { mood: 'sad' })).toMatchObject({ code: 'internal_error' });
  });

  it.each([
    ['{ cat', {}, 'invalid_body', null],
    ['{ dog }', {}, 'invalid_body', null],
    ['{ cat(input: {}) }', {}, 'missing_required_parameter', 'full_name'],
    ['{ cat }', {}, 'missing_required_parameter', 'input'],
    ['{ cat(input: { fullName: "x", tail: 1 }) }', {}, 'unknown_parameter', 'tail'],
    ['{ cat(input: { fullName: 5 }) }', {}, 'invalid_type', null],
    ['{ cat(input: { fullName: "x", mood: SAD }) }', {}, 'invalid_value', null],
    ['{ cat(input: { fullName: "x" }, tail: 1) }', {}, 'unknown_parameter', 'tail'],
    ['query ($i: Cat!) { cat(input: $i) }', {}, 'missing_required_parameter', 'i'],
    ['query ($i: Cat!) { cat(input: $i) }', { i: {} }, 'missing_required_parameter', 'full_name'],
    ['query ($i: Cat!) { cat(input: $i) }', { i: { fullName: 'x', noTail: 1 } }, 'unknown_parameter', 'no_tail'],
    ['query ($i: Cat!) { cat(input: $i) }', { i: { fullName: 5 } }, 'invalid_type', 'full_name'],
    ['query ($i: Cat!) { cat(input: $i) }', { i: { fullName: 'x', age: 2 ** 40 } }, 'value_out_of_range', 'age'],
    ['query ($i: Cat!) { cat(input: $i) }', { i: { fullName: 'x', mood: 'SAD' } }, 'invalid_value', 'mood'],
    ['query ($i: Cat!) { cat(input: $i) }', { i: { fullName: 'x', parts: ['a', 1] } }, 'invalid_type', 'parts[1]'],
  ])('names the fault of %s', async (source, variables, code, param) => {
    expect(await refusal(source, variables)).toMatchObject({ code, param });
  });

  const long = 'y'.repeat(100_000);
  it.each([
    [`{ cat(input: "${long}") }`, {}, null],
    ['query ($i: Cat!) { cat(input: $i) }', { i: { fullName: ` at "a; Expected${long}`, noTail: 1 } }, 'no_tail'],
  ])('repeats only the ends of a long value, and finds the fault behind it', async (source, variables, param) => {
    const { message, ...fault } = await refusal(source, variables);
    expect(message.length).toBeLessThan(2_100);
    expect(fault.param).toBe(param);
  });

  it('names the fault of a long variable as of a short one', async () => {
    const query = 'query ($i: Cat!) { cat(input: $i) }';
    for (const value of ['y', long]) {
      const fault = await refusal(query, { i: { fullName: [value] } });
      expect([fault.code, fault.param]).toEqual(['invalid_type', 'full_name']);
    }
  });

  it('repeats nothing of a long variable', async () => {
    const query = 'query ($i: Cat!) { cat(input: $i) }';
    for (const input of [{ fullName: long, mood: long }, { fullName: [long], age: long }, [long]]) {
      expect((await refusal(query, { i: input })).message).not.toContain('yyy');
    }
  });

  it('suggests no names when introspection is off', () => {
    const error = new GraphQLError('Cannot query field "mode" on type "Query". Did you mean "mood"?');
    expect(formatGraphqlError(error, { ...options, suggestions: false }).message).toBe(
      'Cannot query field "mode" on type "Query".',
    );
  });
});
