import { createClient } from 'graphql-sse';
import { aCat, aFailure, aHang, Api } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { joinService, type SharedService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const ONE = 'subscription ($id: String!) { taskUpdated(taskId: $id) { taskId status progress } }';
const ALL = 'subscription { tasksUpdated { taskId status } }';
interface One {
  taskUpdated: { taskId: string; status: string; progress: number };
}

describe('subscriptions over server-sent events', () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await joinService();
  });
  afterAll(() => service?.close());
  const url = () => new URL('/graphql', service.baseUrl).href;
  const clientOf = ({ key }: { key: string | null }, retryAttempts = 0) =>
    createClient({ url: url(), headers: { authorization: `Bearer ${key}` }, retryAttempts });
  const keyWith = async (scopes: string[]) => {
    const { id, key } = await anotherKey(service.api, { scopes });
    return { id, key, api: new Api(service.baseUrl, key) };
  };
  const post = (body: object, headers: object = {}) =>
    fetch(url(), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.api.key}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
        ...headers,
      },
      body: JSON.stringify(body),
    });
  /** The states that a client has received; `ended` rejects if the stream breaks. */
  const follow = (client: ReturnType<typeof createClient>, query: string, variables: Record<string, unknown> = {}) => {
    const events: unknown[] = [];
    const ended = (async () => {
      for await (const event of client.iterate({ query, variables })) events.push(event);
    })();
    ended.catch(() => undefined);
    return { events, ended };
  };
  const openOf = async () => {
    const text = await (await fetch(new URL('/metrics', service.baseUrl))).text();
    return Number(/^darkroom_live_connections\{transport="sse"\} (\d+)/m.exec(text)?.[1]);
  };

  it('sends a task from its present state to its end, and completes', async () => {
    const { body } = await service.api.create(aCat);
    const { events, ended } = follow(clientOf(service.api), ONE, { id: body.task_id });
    await ended;
    const states = (events as { data: One }[]).map(({ data }) => data.taskUpdated);
    expect(states.at(-1)).toEqual({ taskId: body.task_id, status: 'SUCCEEDED', progress: 100 });
    expect(states.filter(({ status }) => status === 'SUCCEEDED')).toHaveLength(1);
  });

  it('answers queries, mutations and errors in the same way', async () => {
    const client = clientOf(service.api);
    const query = follow(client, '{ viewer { id } }');
    await query.ended;
    expect(query.events).toEqual([{ data: { viewer: { id: service.keyId } } }]);
    const { body } = await service.api.create(aFailure);
    const cancel = follow(client, 'mutation ($id: String!) { cancelTask(taskId: $id) { taskId } }', {
      id: body.task_id,
    });
    await cancel.ended;
    expect(cancel.events).toEqual([{ data: { cancelTask: { taskId: body.task_id } } }]);
    const invalid = follow(client, '{ viewer { nothing } }');
    await invalid.ended;
    expect(invalid.events).toMatchObject([{ errors: [{ extensions: { code: 'invalid_body' } }] }]);
    const unknown = follow(client, ONE, { id: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' });
    await unknown.ended;
    expect(unknown.events).toMatchObject([{ errors: [{ extensions: { code: 'task_not_found' } }] }]);
  });

  it('has the limits of a document, and the scopes of its fields', async () => {
    const levels = 'children { edges { node { '.repeat(3);
    const deep = follow(clientOf(service.api), `{ tasks { edges { node { ${levels} id ${'} '.repeat(13)}`);
    await deep.ended;
    expect(JSON.stringify(deep.events)).toContain('nested deeper than');
    const pages = 'children(first: 100) { edges { node { children(first: 100) { edges { node { taskId } } } } } }';
    const dear = follow(clientOf(service.api), `subscription { tasksUpdated { ${pages} } }`);
    await dear.ended;
    expect(JSON.stringify(dear.events)).toContain('10000 are allowed');
    const writer = await keyWith(['generations:write']);
    const refused = follow(clientOf(writer), ALL);
    await refused.ended;
    expect(refused.events).toMatchObject([{ errors: [{ extensions: { code: 'insufficient_scope' } }] }]);
  });

  it('takes only the stream for its first choice, and only a POST', async () => {
    const asJson = await post({ query: '{ viewer { id } }' }, { accept: 'application/json, text/event-stream' });
    expect(await asJson.json()).toEqual({ data: { viewer: { id: service.keyId } } });
    const refused = await post({ query: ALL }, { accept: 'application/json' });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('text/event-stream');
    const stream = await post({ query: '{ viewer { id } }' }, { accept: 'text/event-stream, multipart/mixed' });
    expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(await stream.text()).toContain('event: next\ndata: {"data":{"viewer"');
  });

  it('refuses a wrong key and a malformed request with a status', async () => {
    for (const authorization of ['', 'Bearer dr_wrong']) {
      const reply = await post({ query: ALL }, { authorization });
      expect(reply.status).toBe(401);
      expect(await reply.json()).toMatchObject({ errors: [{ extensions: { type: 'authentication_error' } }] });
    }
    for (const [body, param] of [
      [{}, 'query'],
      [{ query: 1 }, 'query'],
      [{ query: ALL, operationName: 1 }, 'operationName'],
      [{ query: ALL, variables: [] }, 'variables'],
    ] as const) {
      const reply = await post(body);
      expect(reply.status).toBe(400);
      expect(await reply.json()).toMatchObject({ errors: [{ extensions: { param } }] });
    }
  });

  it('ends when its client leaves, and when its key is revoked', async () => {
    const { id, api, key } = await keyWith(['generations:write', 'tasks:read', 'tasks:cancel']);
    const before = await openOf();
    const { body } = await api.create(aHang);
    const leaving = clientOf({ key });
    const left = follow(leaving, ONE, { id: body.task_id });
    const { events, ended } = follow(clientOf({ key }), ALL);
    await eventually('both streams', async () => events.length > 0 && left.events.length > 0);
    expect(await openOf()).toBe(before + 2);
    leaving.dispose();
    await eventually('the end of the first', async () => (await openOf()) === before + 1);
    await service.api.call('DELETE', `/v1/api_keys/${id}`);
    await expect(ended).rejects.toThrow('Connection closed');
    await eventually('the end of both', async () => (await openOf()) === before);
  });
});
