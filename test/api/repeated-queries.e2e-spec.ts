import { aCat, aHang } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { Scrape } from '../support/metrics.ts';

const TASK = 'query Task($id: String!) { task(taskId: $id) { taskId status result { outputs { id } } } }';
const TWO = 'query One { viewer { id } } query Other { viewer { name } }';

/** The document of the first request is kept with its plan. Later requests use both, and their answers must not differ. */
describe('a query that is sent again', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  let taskId: string;
  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
    ({ task_id: taskId } = (await service.api.create({ ...aCat }, { prefer: 'wait=30' })).body);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });

  async function post(body: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(new URL('/graphql', service.baseUrl), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...graphql.authorization(), ...headers },
      body: JSON.stringify(body),
    });
    const { ratelimit: _counted, 'x-request-id': _id, date: _date, ...rest } = Object.fromEntries(response.headers);
    return { status: response.status, headers: rest, text: await response.text() };
  }
  const ask = (id: unknown, headers?: Record<string, string>) => post({ query: TASK, variables: { id } }, headers);
  const operations = async (outcome: string) =>
    (await Scrape.of(service.baseUrl)).value('darkroom_graphql_operation_duration_seconds_count', {
      graphql_operation_type: 'query',
      outcome,
    }) ?? 0;

  it('has the same status, headers and body, and is counted', async () => {
    const first = await ask(taskId);
    const countedBefore = await operations('ok');
    const again = await ask(taskId);
    expect(again).toEqual(first);
    expect(first.status).toBe(200);
    expect(JSON.parse(first.text)).toMatchObject({ data: { task: { taskId, status: 'SUCCEEDED' } } });
    expect((await operations('ok')) - countedBefore).toBe(1);
  });

  it('reads the task again', async () => {
    const { body } = await service.api.create(aHang);
    expect((await ask(body.task_id)).text).not.toContain('FAILED');
    await service.api.cancel(body.task_id);
    expect((await ask(body.task_id)).text).toContain('FAILED');
  });

  it('has the form that it accepts', async () => {
    const types = ['application/graphql-response+json', 'application/json'];
    for (const accept of types.flatMap((type) => [type, type]))
      expect((await ask(taskId, { accept })).headers['content-type']).toContain(accept);
    for (let at = 0; at < 2; at++) {
      const refused = await post({ query: `${TASK} # of its own`, variables: { id: taskId } }, { accept: 'image/png' });
      expect(refused.status).toBe(406);
    }
  });

  it('of several operations is the one it names', async () => {
    const named = (operationName?: string) => post({ query: TWO, operationName });
    for (let at = 0; at < 2; at++) {
      expect((await named('One')).text).toContain('"id"');
      expect((await named('Other')).text).toContain('"name"');
      expect((await named()).status).toBe(400);
    }
  });

  it('is refused for variables, extensions and ids as before', async () => {
    await ask(taskId);
    expect((await ask(7)).text).toContain('"errors"');
    expect((await post({ query: TASK })).text).toContain('"errors"');
    expect((await post({ query: TASK, variables: [taskId] })).status).toBe(400);
    expect((await post({ query: TASK, variables: `{"id":"${taskId}"}` })).status).toBe(400);
    const persistedQuery = { version: 1, sha256Hash: '0'.repeat(64) };
    const extended = await post({ query: TASK, variables: { id: taskId }, extensions: { persistedQuery } });
    expect(extended.text).toContain('PersistedQueryNotSupported');
    const unknown = await ask('task_01jd8e5t9kf3qs7m2v4xw6yzab');
    expect(JSON.parse(unknown.text)).toMatchObject({ errors: [{ extensions: { code: 'task_not_found' } }] });
  });

  it('reads what is below a root field no more often when another one fails', async () => {
    const query = `query Some($id: String!) { task(taskId: $id) { taskId } tasks { edges { node { children { edges { cursor } } } } } }`;
    const reads = async (id: string) => {
      const count = async () =>
        (await Scrape.of(service.baseUrl)).value('darkroom_batch_items_sum', { batch: 'tasks.children' }) ?? 0;
      const before = await count();
      expect((await post({ query, variables: { id } })).status).toBe(200);
      return (await count()) - before;
    };
    expect(await reads(taskId)).toBeGreaterThan(0);
    const once = await reads(taskId);
    // The plan gives up at the error, and graphql-js reads once more.
    expect(await reads('task_01jd8e5t9kf3qs7m2v4xw6yzab')).toBe(2 * once);
  });

  it('needs its own key and scope', async () => {
    await ask(taskId);
    expect((await ask(taskId, { authorization: 'Bearer sk_wrong' })).text).toContain('invalid_api_key');
    const { key } = await anotherKey(service.api, { scopes: ['generations:write'] });
    expect((await ask(taskId, { authorization: `Bearer ${key}` })).text).toContain('insufficient_scope');
    const other = await anotherKey(service.api, { scopes: ['tasks:read'] });
    expect((await ask(taskId, { authorization: `Bearer ${other.key}` })).text).toContain('task_not_found');
  });
});
