import * as fc from 'fast-check';
import { codeOf, type Attack, HostileClient, assertOrderly, type Outcome } from './client.ts';
import { INVALID_JSON, REFUSED_JSON, VALID_JSON } from './json.ts';
import { attacksOn, encode, ROUTES } from './openapi.ts';
import type { Form } from './form.ts';
import type { HostileService } from './service.ts';
import { fitsHeader, NAUGHTY_STRINGS } from './strings.ts';
import { aCat } from '../clients/api.ts';

/** Every route that reads a body. GraphQL uses the same parser. */
const READERS = [...ROUTES.filter(({ body }) => body), { method: 'POST', path: '/graphql' }];
/** The most bytes of a sign-in. The limit is low because the body is read before the caller is known. */
const SIGN_IN_BYTES = 4_096;
const TOO_LONG = [413, 'payload_too_large'];
const isTooLong = ({ attack: { path, body = '' } }: Outcome): boolean =>
  path === '/v1/session' && Buffer.byteLength(body) > SIGN_IN_BYTES;

/** @param started returns the service, which the caller starts before the tests and stops after them */
export function attackRest(started: () => HostileService, form: Form): void {
  describe('hostile REST requests', () => {
    let client: HostileClient;
    /** Ids that exist: a task, an endpoint, an API key. */
    const ids: string[] = [];

    beforeAll(async () => {
      const { api, port } = started();
      client = new HostileClient(port, api.key, form.hangMs);
      const { body: task } = await api.create(aCat);
      const hook = await api.call<{ id: string }>('POST', '/v1/webhook_endpoints', { url: 'http://127.0.0.1:9/' });
      const key = await api.call<{ id: string }>('POST', '/v1/api_keys', { name: 'spare' });
      ids.push(task.task_id, hook.body.id, key.body.id);
    });
    afterAll(() => client.close());

    const attackAll = (attacks: Attack[], judge: (outcome: Outcome) => void = () => undefined): Promise<void> =>
      client.sendAll(attacks, (outcome) => {
        assertOrderly(outcome);
        judge(outcome);
      });
    const to = ({ method, path }: { method: string; path: string }, body: string | Buffer): Attack => ({
      method,
      path: path.replace(/\{\w+\}/, 'we_00000000000000000000000000'),
      body,
    });
    const toReaders = (body: string | Buffer, index: number): Attack[] =>
      (form.everyReader ? READERS : [READERS[index % READERS.length]!]).map((reader) => to(reader, body));

    it('with valid JSON are parsed, whatever the content', async () => {
      await attackAll(VALID_JSON.flatMap(toReaders), (outcome) => expect(codeOf(outcome)).not.toBe('invalid_json'));
    });

    it('with invalid JSON get 400 invalid_json', async () => {
      await attackAll(INVALID_JSON.flatMap(toReaders), (outcome) =>
        expect([outcome.attack.body, outcome.status, codeOf(outcome)]).toEqual([
          outcome.attack.body,
          ...(isTooLong(outcome) ? TOO_LONG : [400, 'invalid_json']),
        ]),
      );
    });

    it('with JSON that cannot be stored get 400 with the reason', async () => {
      for (const [nth, [body, code]] of REFUSED_JSON.entries()) {
        const readers = form.everyReader ? READERS : READERS.filter((_, at) => at % REFUSED_JSON.length === nth);
        await attackAll(
          readers.map((reader) => to(reader, body)),
          (outcome) => expect([outcome.status, codeOf(outcome)]).toEqual(isTooLong(outcome) ? TOO_LONG : [400, code]),
        );
      }
    });

    it('with a strange text in any field, path, query or header get an orderly answer', async () => {
      const places = [...inFields, ...inPaths, ...inQueries, ...inHeaders];
      const attacks = places.flatMap((place, at) => textsOf(at * form.textsPerPlace, form.textsPerPlace).map(place));
      await attackAll(attacks.filter((attack) => attack !== null));
    });

    it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
      'made from the schema of %s, and mutated, get an orderly answer',
      async (_name, route) => {
        const attacks = fc.sample(attacksOn(route, ids), { numRuns: form.samplesPerOperation, seed: form.seed });
        await attackAll(attacks.filter(isHarmless));
      },
    );

    /** An attack must not delete objects that other tests use. */
    const isHarmless = ({ method, path }: Attack): boolean =>
      method !== 'DELETE' || !ids.some((id) => path.includes(id));
  });
}

/** `amount` texts of the list from `from` on. After the last text the list starts again. */
function textsOf(from: number, amount: number): readonly string[] {
  if (amount >= NAUGHTY_STRINGS.length) return NAUGHTY_STRINGS;
  return Array.from({ length: amount }, (_, nth) => NAUGHTY_STRINGS[(from + nth) % NAUGHTY_STRINGS.length]!);
}

/** 1,500 requests of every kind. */
export const VARIED: Attack[] = Array.from({ length: 1_500 }, (_, index) => {
  const text = NAUGHTY_STRINGS[index % NAUGHTY_STRINGS.length]!;
  const body = INVALID_JSON[index % INVALID_JSON.length]!;
  switch (index % 5) {
    case 0:
      return { method: 'POST', path: '/v1/generations', body: JSON.stringify({ ...aCat, prompt: text, n: 'x' }) };
    case 1:
      return { method: 'GET', path: `/v1/tasks/${encode(text) || 'x'}` };
    case 2:
      return { method: 'POST', path: '/graphql', body: JSON.stringify({ query: text }) };
    case 3:
      return { method: 'GET', path: `/v1/tasks?after=${encode(text)}&nonce=${index}` };
    default:
      return { method: 'POST', path: '/v1/webhook_endpoints', body };
  }
});

type Place = (text: string) => Attack | null;

const post = (path: string, body: (text: string) => object): Place => {
  return (text) => ({ method: 'POST', path, body: JSON.stringify(body(text)) });
};

const aFilm = { model: 'seedance-2', prompt: 'A river' };
const inFields: Place[] = [
  ...['model', 'prompt', 'aspect_ratio', 'resolution', 'n'].map((name) =>
    post('/v1/generations', (text) => ({ ...aCat, [name]: text })),
  ),
  ...['first_frame_image_url', 'reference_image_url', 'reference_mode', 'duration'].map((name) =>
    post('/v1/generations', (text) => ({ ...aFilm, [name]: text })),
  ),
  post('/v1/generations', (text) => ({ ...aCat, reference_images: [text] })),
  post('/v1/generations', (text) => ({ ...aCat, metadata: { a: text } })),
  post('/v1/generations', (text) => ({ ...aCat, metadata: JSON.parse(`{${JSON.stringify(text)}:"a"}`) })),
  post('/v1/generations', (text) => JSON.parse(`{"model":"gpt-image-2","prompt":"x",${JSON.stringify(text)}:1}`)),
  post('/v1/webhook_endpoints', (text) => ({ url: text })),
  post('/v1/webhook_endpoints', (text) => ({ url: `https://${text}/` })),
  post('/v1/webhook_endpoints', (text) => ({ url: 'http://127.0.0.1:9/', events: [text] })),
  post('/v1/webhook_endpoints', (text) => ({ url: 'http://127.0.0.1:9/', description: text })),
  post('/v1/api_keys', (text) => ({ name: text })),
  post('/v1/api_keys', (text) => ({ name: 'x', scopes: [text] })),
  post('/graphql', (text) => ({ query: text })),
  post('/graphql', (text) => ({ query: '{ models { id } }', operationName: text })),
  post('/graphql', (text) => ({
    query: 'query ($id: String!) { task(taskId: $id) { taskId } }',
    variables: { id: text },
  })),
  post('/graphql', (text) => ({ query: `{ model(id: ${JSON.stringify(text)}) { id } }` })),
  post('/graphql', (text) => ({
    query: 'mutation ($input: CreateGenerationInput!) { createGeneration(input: $input) { taskId } }',
    variables: { input: { ...aCat, prompt: text } },
  })),
  post('/graphql', (text) => ({
    query: 'query ($filter: TaskFilter) { tasks(filter: $filter) { edges { cursor } } }',
    variables: { filter: { metadata: JSON.parse(`{${JSON.stringify(text)}:${JSON.stringify(text)}}`) } },
  })),
  post('/graphql', (text) => ({
    query: 'query ($a: String) { tasks(after: $a) { edges { cursor } } }',
    variables: { a: text },
  })),
];

/** Puts the text into a path, encoded; and also raw, if a URL may contain it. */
const inPaths: Place[] = ROUTES.filter(({ path }) => path.includes('{')).flatMap(({ method, path }) => [
  (text) => ({ method, path: path.replace(/\{\w+\}/, encode(text)) }),
  (text) =>
    /^[\x21-\x7e]+$/.test(text) && text.length < 4_000 ? { method, path: path.replace(/\{\w+\}/, () => text) } : null,
]);

const inQueries: Place[] = ROUTES.flatMap(({ method, path, operation }) =>
  (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .flatMap(({ name }): Place[] => {
      const at = path.replace(/\{\w+\}/, 'task_00000000000000000000000000');
      return [
        (text) => ({ method, path: `${at}?${name}=${encode(text)}` }),
        (text) => ({ method, path: `${at}?${name}[${encode(text)}]=1` }),
        (text) => ({ method, path: `${at}?${encode(text)}=1` }),
      ];
    }),
);

/** Puts the text into a header. The headers include `prefer`, because an invalid wait must not become a long one. */
const inHeaders: Place[] = [
  ...[
    'authorization',
    'x-request-id',
    'accept',
    'origin',
    'cookie',
    'if-none-match',
    'accept-encoding',
    'te',
    'via',
  ].map((name) => ['GET', '/v1/tasks', name] as const),
  ['GET', '/v1/events', 'last-event-id'] as const,
  ['GET', '/v1/tasks/task_00000000000000000000000000/events', 'last-event-id'] as const,
  ['GET', '/v1/files/x/content?expires=1&signature=x', 'range'] as const,
  ...['idempotency-key', 'prefer', 'content-type', 'content-encoding', 'traceparent'].map(
    (name) => ['POST', '/v1/generations', name] as const,
  ),
  ...['content-type', 'apollo-require-preflight', 'x-apollo-operation-name'].map(
    (name) => ['POST', '/graphql', name] as const,
  ),
].map(
  ([method, path, name]): Place =>
    (text) =>
      fitsHeader(text)
        ? { method, path, headers: { [name]: text }, ...(method === 'POST' && { body: JSON.stringify(aCat) }) }
        : null,
);
