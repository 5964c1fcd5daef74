import * as fc from 'fast-check';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { codeOf, HostileClient, assertOrderly } from './client.ts';
import type { Form } from './form.ts';
import type { HostileService } from './service.ts';
import { NAUGHTY_STRINGS } from './strings.ts';

const many = (count: number, write: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => write(index)).join(' ');

/** Documents that must be refused: broken ones, and short ones that are expensive to answer. */
const REFUSED: Record<string, string> = {
  nothing: '',
  'a brace': '{',
  'no selection': '{ }',
  'a NUL': '{ models { id\0 } }',
  'braces without end': '{'.repeat(50_000),
  'lists without end': `{ model(id: ${'['.repeat(50_000)}) { id } }`,
  depth: `{ tasks ${many(200, () => '{ edges { node')} { taskId } ${'} }'.repeat(200)} }`,
  'depth by inline fragments': `{ ${many(300, () => '... on Query {')} models { id } ${'}'.repeat(300)} }`,
  'depth of a type reference': `query ($a: ${'['.repeat(3_000)}Int${']'.repeat(3_000)}) { models { id } }`,
  'depth of a value': `mutation { createGeneration(input: { model: "x", prompt: "x", metadata: ${'{a:'.repeat(400)}1${'}'.repeat(400)} }) { taskId } }`,
  'many fields': `{ ${many(2_000, (index) => `a${index}: models { id }`)} }`,
  'many aliases': `{ ${many(31, (index) => `a${index}: viewer { id }`)} }`,
  'one field many times': `{ models { ${'id '.repeat(5_000)} } }`,
  'many root fields': `mutation { ${many(25, (index) => `a${index}: cancelTask(taskId: "x") { taskId }`)} }`,
  'many directives': `{ models { id ${'@include(if: true) '.repeat(100)} } }`,
  'an unknown directive, often': `{ models { id ${'@a '.repeat(400)} } }`,
  'directives on the operation': `query ${'@a '.repeat(400)} { models { id } }`,
  'a fragment within itself': '{ ...A } fragment A on Query { ...A }',
  'a circle of fragments':
    '{ ...A } fragment A on Query { ...B } fragment B on Query { ...C } fragment C on Query { ...A }',
  'doubling fragments': `{ ...F0 } ${many(25, (index) => `fragment F${index} on Query { ...F${index + 1} ...F${index + 1} }`)} fragment F25 on Query { models { id } }`,
  'doubling pages': `{ tasks(first: 100) { edges { node { ...A } } } } fragment A on Task { ${many(20, (index) => `a${index}: result { outputs { id url } }`)} }`,
  'overlapping fields': `{ ${many(20, () => 'tasks { edges { node { taskId } } }')} ${many(20, (index) => `...F${index}`)} } ${many(20, (index) => `fragment F${index} on Query { tasks(first: ${index}) { edges { node { taskId } } } }`)}`,
  'many operations': many(300, (index) => `query Q${index} { models { id } }`),
  'many variables': `query (${many(400, (index) => `$v${index}: Int`)}) { models { id } }`,
  'an unused fragment': '{ models { id } } fragment A on Model { id }',
  'a schema': 'type Query { a: Int }',
  'an unknown field': '{ secrets }',
  'a number past integers': `{ tasks(first: ${'9'.repeat(400)}) { edges { cursor } } }`,
  'a page too large': '{ tasks(first: 2147483647) { edges { cursor } } }',
  'a negative page': '{ tasks(first: -1) { edges { cursor } } }',
  'a subscription': 'subscription { tasksUpdated { taskId } }',
  'a long text': `{ model(id: "${'x'.repeat(900_000)}") { id } }`,
  'a long comment and nothing': `#${'x'.repeat(900_000)}`,
  'a block text cut short': '{ model(id: """x) { id } }',
  'a bad escape': '{ model(id: "\\u{110000}") { id } }',
  'half a surrogate pair': '{ model(id: "\\ud800") { id } }',
};

/** Bodies for /graphql that are JSON but no GraphQL request. */
const BODIES: unknown[] = [
  null,
  true,
  1,
  'x',
  [],
  {},
  [{ query: '{ models { id } }' }],
  [[]],
  { query: null },
  { query: 1 },
  { query: [] },
  { query: {} },
  ...['x', 1, [], true].map((variables) => ({ query: '{ models { id } }', variables })),
  ...['x', 1, [], true].map((extensions) => ({ query: '{ models { id } }', extensions })),
  ...[1, {}, [], '', 'Other'].map((operationName) => ({ query: 'query A { models { id } }', operationName })),
  { query: 'query ($a: Int) { models { id } }', variables: { a: { toString: 1 } } },
  { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } },
  {
    query: 'query ($id: String!) { model(id: $id) { id } }',
    variables: JSON.parse('{"id":"x","__proto__":{"id":"y"}}'),
  },
  { query: 'query ($id: String!) { model(id: $id) { id } }', variables: { id: 'x'.repeat(900_000) } },
  { query: 'query ($f: TaskFilter) { tasks(filter: $f) { edges { cursor } } }', variables: { f: nested(25) } },
  {
    query: 'mutation ($i: CreateGenerationInput!) { createGeneration(input: $i) { taskId } }',
    variables: {
      i: {
        model: 'gpt-image-2',
        prompt: 'x',
        metadata: Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, ''])),
      },
    },
  },
  {
    query: 'mutation ($i: CreateGenerationInput!) { createGeneration(input: $i) { taskId } }',
    variables: { i: { model: 'gpt-image-2', prompt: 'x', referenceImages: Array.from({ length: 50_000 }, () => 'x') } },
  },
];

function nested(depth: number): unknown {
  return depth === 0 ? 1 : { metadata: nested(depth - 1) };
}

/** Tokens of the language, for meaningless documents. */
const TOKENS = (
  '{ } ( ) [ ] : = ! | & $ @ ... "" "x" """x""" 1 -1 1.5 1e99 null true query mutation subscription fragment on ' +
  '__typename __schema __type models tasks task edges node taskId $id String! @include(if:$a) @skip(if:true) #x\n \\ \u0000 é'
).split(' ');

/** Messages that break the protocol. They are sent to a socket after its ack. */
const MESSAGES: (string | Buffer)[] = [
  '',
  'x',
  '{',
  '[]',
  'null',
  '1',
  '"x"',
  '{}',
  '{"type":1}',
  '{"type":"cake"}',
  '{"type":"connection_ack"}',
  '{"id":"1"}',
  '{"type":"subscribe"}',
  '{"type":"subscribe","id":1}',
  '{"type":"subscribe","id":"","payload":{}}',
  '{"type":"next","id":"1"}',
  ...[
    1,
    null,
    'x',
    [],
    {},
    { query: 1 },
    { query: '{ models { id } }', variables: 1 },
    { query: '{ models { id } }', operationName: 1 },
  ].map((payload) => JSON.stringify({ id: '1', type: 'subscribe', payload })),
  '{"type":"complete"}',
  '{"type":"complete","id":1}',
  '{"type":"connection_init","payload":1}',
  '{"type":"connection_init"}',
  '{"type":"ping","payload":1}',
  '{"__proto__":{"type":"subscribe"}}',
  '{"type":"subscribe","type":"ping"}',
  '['.repeat(30_000),
  '{"type":"ping","payload":{"a":"\\u0000"}}',
  Buffer.from([0, 1, 2]),
  'x'.repeat(65 * 1024),
];

const attack = (body: unknown) => ({ method: 'POST', path: '/graphql', body: JSON.stringify(body) });

/** The attacks with every document and body once. */
export const GRAPHQL_ATTACKS = [...Object.values(REFUSED).map((query) => ({ query })), ...BODIES].map(attack);

export async function openSocket({ port, api }: HostileService): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/graphql`, 'graphql-transport-ws');
  socket.on('error', () => undefined);
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${api.key}` } }));
  await once(socket, 'message');
  return socket;
}

/** @param started returns the service, which the caller starts before the tests and stops after them */
export function attackGraphql(started: () => HostileService, form: Form): void {
  describe('hostile GraphQL', () => {
    let client: HostileClient;
    beforeAll(() => {
      const { api, port } = started();
      client = new HostileClient(port, api.key, form.hangMs);
    });
    afterAll(() => client.close());

    it.each(Object.entries(REFUSED))('%s is refused over HTTP', async (_name, query) => {
      const outcome = await client.send(attack({ query }));
      assertOrderly(outcome);
      expect(codeOf(outcome)).toBeDefined();
      expect(outcome.text.length).toBeLessThan(64 * 1024); // the answer must not grow with the query
    });

    it('bodies of other shapes get an orderly answer', async () => {
      await client.sendAll(BODIES.map(attack), assertOrderly);
      const nul = encodeURIComponent('{"a":"\\u0000","f":{"metadata":{"\\u0000":"\\ud800"}}}');
      const ask = (document: string): string => `/graphql?query=${encodeURIComponent(document)}&variables=${nul}`;
      for (const path of [
        ask('query ($a: String!) { task(taskId: $a) { taskId } }'),
        ask('query ($a: String!) { model(id: $a) { id } }'),
        ask('query ($f: TaskFilter) { tasks(filter: $f) { edges { cursor } } }'),
        ask('query ($a: String) { tasks(filter: { model: $a }) { edges { cursor } } }'),
        '/graphql?query={models{id}}',
        '/graphql?query=',
        '/graphql?variables={&query={a}',
        '/graphql',
      ])
        for (const method of ['GET', 'PUT', 'DELETE', 'PATCH'])
          assertOrderly(await client.send({ method, path, headers: { 'apollo-require-preflight': '1' } }));
    });

    it('meaningless documents get an orderly answer', async () => {
      const randomDocument = fc.oneof(
        fc.array(fc.constantFrom(...TOKENS), { maxLength: 40 }).map((tokens) => tokens.join(' ')),
        fc
          .array(fc.constantFrom(...TOKENS), { maxLength: 20 })
          .map((tokens) => `{ models { id ${tokens.join(' ')} } }`),
        fc.constantFrom(...NAUGHTY_STRINGS).map((text) => `{ model(id: ${JSON.stringify(text)}) { id } }`),
      );
      await client.sendAll(
        fc.sample(randomDocument, { numRuns: form.randomDocuments, seed: form.seed }).map((query) => attack({ query })),
        assertOrderly,
      );
    });

    it.each(Object.entries(REFUSED).filter(([name, query]) => name !== 'a subscription' && query.length < 60_000))(
      '%s is refused over a socket',
      async (_name, query) => {
        const socket = await openSocket(started());
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
        const { type, payload, code } = await firstMessage(socket);
        if (query.includes('\0')) return expect(code).toBe(4400); // the transport refuses this character
        // Resolvers check arguments, so their refusals are in the result.
        expect(type === 'error' || (type === 'next' && 'errors' in (payload as object))).toBe(true);
        expect(JSON.stringify(payload)).not.toMatch(/internal_error|node_modules|stacktrace/);
        await close(socket);
      },
    );

    it('messages of other shapes get an error, or close the socket with a documented code', async () => {
      for (const message of MESSAGES) {
        const socket = await openSocket(started());
        const first = firstMessage(socket);
        socket.send(message);
        const { type, code } = await first;
        const why = JSON.stringify(String(message).slice(0, 100));
        if (code !== undefined) expect([why, [4400, 4409, 4429, 1003, 1009].includes(code)]).toEqual([why, true]);
        else expect([why, ['error', 'pong', 'next', 'complete'].includes(type!)]).toEqual([why, true]);
        await close(socket);
      }
    });

    it('a flood of messages on one socket does not disturb the service', async () => {
      const socket = await openSocket(started());
      const query = '{ models { id } }';
      const over = Promise.race([once(socket, 'close'), answerTo(socket, `${form.messages - 1}`)]);
      for (let id = 0; id < form.messages; id++)
        socket.send(JSON.stringify({ id: `${id}`, type: 'subscribe', payload: { query } }));
      assertOrderly(await client.send({ method: 'GET', path: '/v1/models' }));
      await over;
      assertOrderly(await client.send({ method: 'GET', path: '/v1/models' }));
      await close(socket);
    });
  });
}

interface Message {
  type?: string;
  payload?: unknown;
  /** The close code, if the socket was closed instead. */
  code?: number;
}

function firstMessage(socket: WebSocket): Promise<Message> {
  return new Promise((resolve) => {
    socket.once('message', (data: Buffer) => resolve(JSON.parse(data.toString()) as Message));
    socket.once('close', (code) => resolve({ code }));
  });
}

function answerTo(socket: WebSocket, id: string): Promise<void> {
  return new Promise((resolve) => {
    socket.on('message', (data: Buffer) => {
      if ((JSON.parse(data.toString()) as { id?: string }).id === id) resolve();
    });
  });
}

export async function close(socket: WebSocket): Promise<void> {
  if (socket.readyState === socket.CLOSED) return;
  const closed = once(socket, 'close');
  socket.close();
  await closed;
}
