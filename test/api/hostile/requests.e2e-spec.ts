// Own settings: no workers, and a log that shows internal errors. test/outside/hostile is the long form.
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import sharp from 'sharp';
import { Api } from '../../support/clients/api.ts';
import { aPicture, FilesClient } from '../../support/clients/files.ts';
import { SHORT } from '../../support/hostile/form.ts';
import { attackGraphql } from '../../support/hostile/graphql-suite.ts';
import { attackRest } from '../../support/hostile/rest-suite.ts';
import { type HostileService, startHostileService } from '../../support/hostile/service.ts';
import { attackWire } from '../../support/hostile/wire-suite.ts';
import { eventually } from '../../support/wait.ts';

const ACCEPT = { accept: 'application/json, text/event-stream' };
/** Messages of one batch that use the database at the same time. */
const AT_ONCE = 3;
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} };

let service: HostileService;
beforeAll(async () => void (service = await startHostileService()));
afterAll(() => service.close());
/** In addition to the answers, the log must have no internal error. */
afterEach(() => expect(service.faults().filter((line) => !(hasLocked && isLockTimeout(line)))).toEqual([]));
/** Set by the test that locks a table. On a busy machine a statement waits so long for it that it gives up. */
let hasLocked = false;
const isLockTimeout = (line: string) => line.includes('canceling statement due to lock timeout');

attackRest(() => service, SHORT);
attackGraphql(() => service, SHORT);
attackWire(() => service, SHORT);

const post = (body: unknown, api = service.api) => api.call<any>('POST', '/mcp', body, ACCEPT);

/** `fetch` normalises the path, and sets the Host header itself. */
async function sent(path: string, headers: Record<string, string>, body: string): Promise<[number, string]> {
  const { hostname, port } = new URL(service.env.PUBLIC_URL!);
  const options = { hostname, port, path, method: 'POST' };
  const outgoing = request({ ...options, headers: { ...ACCEPT, 'content-type': 'application/json', ...headers } });
  const [answer] = (await once(outgoing.end(body), 'response')) as [IncomingMessage];
  return [answer.statusCode!, await text(answer)];
}

async function newKey(body: object): Promise<Api> {
  const reply = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'hostile', ...body });
  return new Api(service.env.PUBLIC_URL!, reply.body.key);
}

describe('a page of another origin', () => {
  const authorization = () => ({ authorization: `Bearer ${service.api.key}` });

  it.each(['/mcp', '/%6dcp', '/mc%70', 'http://127.0.0.1/mcp'])('is refused at %s', async (path) => {
    const [status, body] = await sent(
      path,
      { ...authorization(), origin: 'https://evil.example' },
      JSON.stringify(LIST),
    );
    expect([path, status, body.includes('origin_not_allowed')]).toEqual([path, 403, true]);
  });

  it('is refused by its name', async () => {
    const [status] = await sent('/%6dcp', { ...authorization(), host: 'evil.example' }, JSON.stringify(LIST));
    expect(status).toBe(403);
  });
});

it.each(['/%6dcp', '/%76%31/generations'])(
  'a body at %s without a key is refused before it is parsed',
  async (path) => {
    const [status, body] = await sent(path, {}, '{ no json');
    expect([path, status, JSON.parse(body).error.code]).toEqual([path, 401, 'missing_api_key']);
  },
);

it('a request line with a whole address is answered', async () => {
  const headers = { authorization: `Bearer ${service.api.key}` };
  const [status, body] = await sent('http://127.0.0.1/mcp', headers, JSON.stringify(LIST));
  expect([status, body.includes('generate_image')]).toEqual([200, true]);
});

it.each([
  ['an unknown tool', { ...LIST, method: 'tools/call', params: { name: 'no_tool' } }],
  ['a call without a name', { ...LIST, method: 'tools/call', params: {} }],
  ['arguments that are no object', { ...LIST, method: 'tools/call', params: { name: 'get_task', arguments: 7 } }],
  ['a call that wants no answer', { jsonrpc: '2.0', method: 'tools/call', params: { name: 'list_models' } }],
  ['an empty batch', []],
])('%s counts as a read', async (_what, message) => {
  const slow = await newKey({ limits: { reads_per_minute: 2 } });
  const answers = [await post(message, slow), await post(message, slow), await post(message, slow)];
  expect(answers.map(({ text: body }) => body.includes('rate_limit_exceeded'))).toEqual([false, false, true]);
});

it('a batch reads files within the memory that is set aside for them, and gets links to the others', async () => {
  const { id, size } = await noisyUpload();
  const fitting = Math.floor(40_000_000 / size);
  const uri = `darkroom://files/${id}`;
  const one = { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } };
  const { status, text: body } = await post(Array.from({ length: 20 }, (_, nth) => ({ ...one, id: nth })));
  expect(status).toBe(200);
  expect(body.match(/"blob":/g)!).toHaveLength(fitting);
  expect(body.match(/"code":"rate_limit_exceeded"/g)).toHaveLength(20 - fitting);
  expect(body).toContain(`/v1/files/${id}/content?`);
  expect((await post(one)).text).toContain('"blob":');
});

it('a batch leaves connections to the database for others, and none of its messages is refused for want of one', async () => {
  const { body: upload } = await new FilesClient(service.api).upload(await aPicture());
  const lock = await lockUploads();
  hasLocked = true;
  const read = { jsonrpc: '2.0', method: 'resources/read', params: { uri: `darkroom://files/${upload.id}` } };
  const batch = post(Array.from({ length: 50 }, (_, nth) => ({ ...read, id: nth })));
  await eventually('the batch to wait for the table', async () => (await lock.waiting()) > 0);
  const { status } = await service.api.call('GET', '/v1/tasks?limit=1');
  expect(status).toBe(200);
  expect(await lock.waiting()).toBeLessThanOrEqual(AT_ONCE);
  await lock.release();
  // On a busy machine, a statement gives up waiting for the lock after 2 s, and then so do the next. The others were not refused.
  expect((await batch).text.match(/service_unavailable/g)?.length ?? 0).toBeLessThanOrEqual(2 * AT_ONCE);
});

async function lockUploads() {
  const client = new pg.Client({ connectionString: service.env.DATABASE_URL! });
  await client.connect();
  await client.query('begin; lock table uploads in access exclusive mode');
  const count = `select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
  return {
    waiting: async () => (await client.query<{ count: number }>(count)).rows[0]!.count,
    release: () => client.end(),
  };
}

/** Noise cannot be compressed, so the file is large. */
async function noisyUpload(): Promise<{ id: string; size: number }> {
  const side = 1_000;
  const noise = sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } });
  const picture = await noise.png().toBuffer();
  const { body } = await new FilesClient(service.api).upload(picture, { purpose: 'vision' });
  return { id: body.id, size: picture.length };
}
