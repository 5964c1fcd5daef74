import * as fc from 'fast-check';
import { codeOf, type Attack, HostileClient, assertOrderly, type Outcome } from '../../support/hostile/client.ts';
import { INVALID_JSON, REFUSED_JSON, VALID_JSON } from '../../support/hostile/json.ts';
import { attacksOn, encode, ROUTES } from '../../support/hostile/openapi.ts';
import { type HostileService, startHostileService } from '../../support/hostile/service.ts';
import { fitsHeader, NAUGHTY_STRINGS } from '../../support/hostile/strings.ts';
import { aCat } from '../../support/clients/api.ts';

const LONG = process.env.DARKROOM_TEST_LONG === '1';
const MIB = 1024 * 1024;
/** Every route that reads a body. GraphQL uses the same parser. */
const READERS = [...ROUTES.filter(({ body }) => body), { method: 'POST', path: '/graphql' }];
/** Of a sign-in, which is read before the caller is known. */
const SIGN_IN_BYTES = 4_096;
const TOO_LONG = [413, 'payload_too_large'];
const isTooLong = ({ attack: { path, body = '' } }: Outcome): boolean =>
  path === '/v1/session' && Buffer.byteLength(body) > SIGN_IN_BYTES;

describe('hostile REST requests', () => {
  let service: HostileService;
  let client: HostileClient;
  /** Existing ids: a task, an endpoint, an API key. */
  const ids: string[] = [];
  let sent = 0;

  beforeAll(async () => {
    service = await startHostileService();
    client = new HostileClient(service.port, service.api.key);
    const { api } = service;
    const { body: task } = await api.create(aCat);
    const hook = await api.call<{ id: string }>('POST', '/v1/webhook_endpoints', { url: 'http://127.0.0.1:9/' });
    const key = await api.call<{ id: string }>('POST', '/v1/api_keys', { name: 'spare' });
    ids.push(task.task_id, hook.body.id, key.body.id);
  });
  afterAll(async () => {
    client.close();
    await service.close();
  });
  /** In addition to the answers, the log must have no internal error. */
  afterEach(() => expect(service.faults()).toEqual([]));

  const attackAll = async (attacks: Attack[], judge: (outcome: Outcome) => void = () => undefined): Promise<void> => {
    sent += attacks.length;
    await client.sendAll(attacks, (outcome) => {
      assertOrderly(outcome);
      judge(outcome);
    });
  };
  const toReaders = (body: string | Buffer, index: number): Attack[] =>
    (LONG ? READERS : [READERS[index % READERS.length]!]).map(({ method, path }) => ({
      method,
      path: path.replace(/\{\w+\}/, 'we_00000000000000000000000000'),
      body,
    }));

  it('with valid JSON are parsed, whatever the content', async () => {
    await attackAll(VALID_JSON.flatMap(toReaders), (outcome) => expect(codeOf(outcome)).not.toBe('invalid_json'));
  }, 240_000);

  it('with invalid JSON get 400 invalid_json', async () => {
    await attackAll(INVALID_JSON.flatMap(toReaders), (outcome) =>
      expect([outcome.attack.body, outcome.status, codeOf(outcome)]).toEqual([
        outcome.attack.body,
        400,
        'invalid_json',
      ]),
    );
  }, 240_000);

  it('with JSON that cannot be stored get 400 with the reason', async () => {
    for (const [body, code] of REFUSED_JSON) {
      await attackAll(
        READERS.map(({ method, path }) => ({ method, path: path.replace(/\{\w+\}/, 'we_x'), body })),
        (outcome) => expect([outcome.status, codeOf(outcome)]).toEqual(isTooLong(outcome) ? TOO_LONG : [400, code]),
      );
    }
  });

  it('with a strange text in any field, path, query or header get an orderly answer', async () => {
    const places = [...inFields, ...inPaths, ...inQueries, ...inHeaders];
    // In the short form each place gets every n-th text, from a different start.
    const step = LONG ? 1 : 12;
    const attacks = places.flatMap((place, start) =>
      NAUGHTY_STRINGS.filter((_, index) => (index + start) % step === 0).map(place),
    );
    await attackAll(attacks.filter((attack) => attack !== null));
  }, 300_000);

  it.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    'made from the schema of %s, and mutated, get an orderly answer',
    async (_name, route) => {
      const attacks = fc.sample(attacksOn(route, ids), { numRuns: LONG ? 2_000 : 60 });
      await attackAll(attacks.filter(isHarmless));
    },
  );

  it('do not leak memory', async () => {
    const round = (): Promise<void> => attackAll(VARIED);
    await round();
    const [heapBefore, rssBefore] = [await service.heap(), await service.rss()];
    for (let time = 0; time < (LONG ? 10 : 2); time++) await round();
    const [heapAfter, rssAfter] = [await service.heap(), await service.rss()];
    process.stderr.write(
      `hostile REST: ${sent} requests; heap ${mib(heapBefore)} -> ${mib(heapAfter)}, RSS ${mib(rssBefore)} -> ${mib(rssAfter)}\n`,
    );
    expect(heapAfter - heapBefore).toBeLessThan(8 * MIB);
    expect(rssAfter - rssBefore).toBeLessThan(128 * MIB); // V8 keeps some memory for bodies of half a MiB
  }, 300_000);

  /** An attack must not delete the resources that other tests use. */
  const isHarmless = ({ method, path }: Attack): boolean => method !== 'DELETE' || !ids.some((id) => path.includes(id));
});

const mib = (bytes: number): string => `${(bytes / MIB).toFixed(1)} MiB`;

/** 1,500 requests of every kind. */
const VARIED: Attack[] = Array.from({ length: 1_500 }, (_, index) => {
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

/** The text encoded, and raw if a URL may contain it. */
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

/** With `prefer`: an invalid wait must not become a long one. */
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
