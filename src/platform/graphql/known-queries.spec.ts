import type { FastifyRequest } from 'fastify';
import { KnownQueries } from './known-queries.ts';

const plan = async () => ({});
const request = (body: unknown, { method = 'POST', accept = '*/*' } = {}) =>
  ({ method, body, headers: { accept } }) as FastifyRequest;

describe('known queries', () => {
  const queries = new KnownQueries();
  queries.keep(request({ query: '{ a }', variables: {} }), plan, 'application/json');

  it.each([undefined, null, { id: 1 }])('have their plan, with variables %j', (variables) => {
    const found = queries.find(request({ query: '{ a }', variables }));
    expect(found).toEqual({ plan, contentType: 'application/json', variables: variables ?? undefined });
  });

  it.each([
    ['another text', request({ query: '{ b }' })],
    ['no text', request({ query: 7 })],
    ['no body', request(undefined)],
    ['a list', request([{ query: '{ a }' }])],
    ['a name', request({ query: '{ a }', operationName: 'A' })],
    ['an empty name', request({ query: '{ a }', operationName: null })],
    ['extensions', request({ query: '{ a }', extensions: {} })],
    ['variables in a list', request({ query: '{ a }', variables: [] })],
    ['variables as text', request({ query: '{ a }', variables: '{}' })],
    ['another form', request({ query: '{ a }' }, { accept: 'text/html' })],
    ['another method', request({ query: '{ a }' }, { method: 'GET' })],
  ])('are left to Apollo with %s', (_what, other) => {
    expect(queries.find(other)).toBeUndefined();
  });

  it('are none of long texts', () => {
    const long = request({ query: `{ a }${' '.repeat(16_000)}` });
    queries.keep(long, plan, 'application/json');
    expect(queries.find(long)).toBeUndefined();
  });

  it('are forgotten, the one that was used longest ago first', () => {
    const many = Array.from({ length: 100 }, (_, at) => request({ query: `{ a${at} }` }));
    for (const each of many) queries.keep(each, plan, 'application/json');
    expect(queries.find(request({ query: '{ a }' }))).toBeUndefined();
    expect(many.every((each) => queries.find(each) !== undefined)).toBe(true);
  });
});
