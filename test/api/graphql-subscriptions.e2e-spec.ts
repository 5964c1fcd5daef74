import { WebSocket } from 'ws';
import { aFailure, aHang, Api } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { type Following, GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { joinService, type SharedService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const AMOUNT = 100;
const ONE =
  'subscription One($id: String!) { taskUpdated(taskId: $id) { taskId status progress completedAt error { code } result { outputs { url } } } }';
const ALL =
  'subscription All($filter: TaskFilter, $since: Long) { tasksUpdated(filter: $filter, since: $since) { taskId status progress } }';
interface State {
  taskId: string;
  status: string;
  progress: number;
  completedAt: number;
  error: { code: string } | null;
  result: { outputs: { url: string }[] } | null;
}
interface One {
  taskUpdated: State;
}
interface All {
  tasksUpdated: State;
}

describe('subscriptions', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(async () => {
    await graphql?.close();
    await service?.close();
  });
  const states = (followed: Following<One>) => followed.data.map(({ taskUpdated }) => taskUpdated);
  const until = (what: string, met: () => boolean) => eventually(what, async () => met());
  const tenant = async (limits: object = {}) => {
    const { id, key } = await anotherKey(service.api, { limits });
    return { id, api: new Api(service.baseUrl, key), client: new GraphqlClient(service.baseUrl, key) };
  };

  describe('taskUpdated', () => {
    it('sends the current state, then rising progress, then the end, and completes', async () => {
      // It waits until it is followed, and runs for a second at least, so that each of its three states is seen.
      const { api, client } = await tenant({ max_running: 1 });
      const { body: first } = await api.create(aHang);
      await api.until(first.task_id, 'running');
      const film = { model: 'sora-2', prompt: 'Waves #delay:1', resolution: '720P', duration: 1 };
      const { body } = await api.create(film);
      const followed = client.follow<One>(ONE, { id: body.task_id });
      await until('its first state', () => followed.data.length > 0);
      await api.cancel(first.task_id);
      await followed.ended;
      const seen = states(followed);
      expect(seen[0]!.status).toBe('QUEUED');
      expect(seen.at(-1)).toMatchObject({ taskId: body.task_id, status: 'SUCCEEDED', progress: 100 });
      expect(seen.filter(({ status }) => status === 'SUCCEEDED')).toHaveLength(1);
      expect(seen.map(({ status }) => status)).toContain('RUNNING');
      const progress = seen.map((state) => state.progress);
      expect(progress).toEqual(progress.toSorted((a, b) => a - b));
      expect((await fetch(seen.at(-1)!.result!.outputs[0]!.url)).status).toBe(200);
      await client.close();
    });

    it('sends a finished task once and completes', async () => {
      const { body } = await service.api.create(aFailure, { prefer: 'wait=30' });
      const followed = graphql.follow<One>(ONE, { id: body.task_id });
      await followed.ended;
      expect(states(followed)).toMatchObject([{ status: 'FAILED', error: { code: 'CONTENT_POLICY_VIOLATION' } }]);
      expect(states(followed)[0]!.completedAt).toBe(body.completed_at);
    });

    it('sends a cancellation', async () => {
      const { body } = await service.api.create(aHang);
      const followed = graphql.follow<One>(ONE, { id: body.task_id });
      await until('the first event', () => followed.events.length > 0);
      await service.api.cancel(body.task_id);
      await followed.ended;
      expect(states(followed).at(-1)).toMatchObject({
        status: 'FAILED',
        progress: 0,
        error: { code: 'TASK_CANCELLED' },
      });
    });

    it("refuses an unknown task and another key's task alike, with the code of REST", async () => {
      const { client: stranger } = await tenant();
      const { body } = await service.api.create(aHang);
      const refusal = [
        { message: 'No task of yours has this id.', extensions: { code: 'task_not_found', param: 'task_id' } },
      ];
      const foreign = stranger.follow(ONE, { id: body.task_id });
      const unknown = graphql.follow(ONE, { id: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' });
      await Promise.all([foreign.ended, unknown.ended]);
      for (const { events } of [foreign, unknown]) expect(events).toMatchObject([{ errors: refusal }]);
      await stranger.close();
      await service.api.cancel(body.task_id);
    });

    it('sends nothing after the client completed the subscription', async () => {
      const { body } = await service.api.create(aHang);
      await service.api.until(body.task_id, 'running');
      const socket = await open({ authorization: `Bearer ${service.api.key}` });
      await socket.ready();
      const payload = { query: ONE, variables: { id: body.task_id } };
      const of = (wanted: string) => socket.messages.filter(({ id }) => id === wanted);
      for (const id of ['1', '2']) socket.send({ id, type: 'subscribe', payload });
      await until('the present state', () => of('1').length > 0 && of('2').length > 0);
      socket.send({ id: '1', type: 'complete' });
      socket.send({ type: 'ping' });
      await socket.message('pong');
      await service.api.cancel(body.task_id);
      await until('the end of the other', () => of('2').some(({ type }) => type === 'complete'));
      expect(of('1').map(({ type }) => type)).toEqual(['next']);
      socket.close();
    });
  });

  describe('tasksUpdated', () => {
    it('sends the unfinished tasks first, then every change', async () => {
      const { api, client } = await tenant();
      const before = await api.create(aHang);
      await api.until(before.body.task_id, 'running');
      const followed = client.follow<All>(ALL);
      await until('the present state', () => followed.events.length === 1);
      expect(followed.data[0]!.tasksUpdated).toMatchObject({ taskId: before.body.task_id, status: 'RUNNING' });
      const after = await api.create(aFailure);
      await until('the end of the new one', () =>
        followed.data.some(
          ({ tasksUpdated: { taskId, status } }) => taskId === after.body.task_id && status === 'FAILED',
        ),
      );
      await api.cancel(before.body.task_id);
      await until('the cancel', () =>
        followed.data.some(
          ({ tasksUpdated: { status, taskId } }) => taskId === before.body.task_id && status === 'FAILED',
        ),
      );
      followed.stop();
      await client.close();
    });

    it('sends only the tasks that match the filter', async () => {
      const followed = graphql.follow<All>(ALL, { filter: { status: 'FAILED', metadata: { mine: 'yes' } } });
      const mine = new Set<string>();
      // Tasks that end before the subscription starts are not sent.
      await eventually('one of mine', async () => {
        await service.api.create(aFailure, { prefer: 'wait=30' });
        const { body } = await service.api.create({ ...aFailure, metadata: { mine: 'yes' } }, { prefer: 'wait=30' });
        mine.add(body.task_id);
        return followed.events.length > 0;
      });
      for (const { tasksUpdated } of followed.data) {
        expect([mine.has(tasksUpdated.taskId), tasksUpdated.status]).toEqual([true, 'FAILED']);
      }
      followed.stop();
    });

    it('replays what ended in the meantime to a client that returns with `since`', async () => {
      const metadata = { meanwhile: 'yes' };
      const { body } = await service.api.create({ ...aFailure, metadata }, { prefer: 'wait=30' });
      const followed = graphql.follow<All>(ALL, { since: body.completed_at - 1, filter: { metadata } });
      await until('the replay', () => followed.events.length > 0);
      expect(followed.data[0]!.tasksUpdated).toMatchObject({ taskId: body.task_id, status: 'FAILED' });
      followed.stop();
    });

    it('never sends tasks of another key, under load', async () => {
      const tenants = await Promise.all(
        Array.from({ length: 3 }, async () => {
          const { api, client } = await tenant();
          const { body: hanging } = await api.create(aHang);
          const followed = client.follow<All>(ALL);
          await until('the subscription to begin', () => followed.events.length > 0);
          return { api, client, followed, mine: new Set([hanging.task_id]) };
        }),
      );
      await Promise.all(
        tenants.flatMap(({ api, mine }) =>
          Array.from({ length: 15 }, async () => {
            const { body } = await api.create(aFailure, { prefer: 'wait=30' });
            mine.add(body.task_id);
          }),
        ),
      );
      for (const { followed, mine, client } of tenants) {
        const ends = () => followed.data.filter(({ tasksUpdated }) => tasksUpdated.status === 'FAILED');
        await until('all the ends', () => ends().length >= 15);
        expect(new Set(followed.data.map(({ tasksUpdated }) => tasksUpdated.taskId))).toEqual(mine);
        await client.close();
      }
    });
  });

  describe('operationsUpdated', () => {
    const FOLLOW = 'subscription { operationsUpdated { pauses { edges { node { id } } } } }';
    interface Update {
      operationsUpdated: { pauses: { edges: { node: { id: string } }[] } };
    }

    it('sends a view at once, and further ones', async () => {
      const followed = graphql.follow<Update>(FOLLOW);
      await until('the first view', () => followed.events.length > 0);
      const pause = { model: 'sora-2', reason: 'x' };
      const { body } = await service.api.call<{ id: string }>('POST', '/v1/operations/pauses', pause);
      const isShown = ({ operationsUpdated: { pauses } }: Update) =>
        pauses.edges.some(({ node }) => node.id === body.id);
      expect(isShown(followed.data[0]!)).toBe(false);
      await until('the pause', () => isShown(followed.data.at(-1)!));
      followed.stop();
      await service.api.call('DELETE', `/v1/operations/pauses/${body.id}`);
    });

    it('ends when the key loses operations:read', async () => {
      const { id, key } = await anotherKey(service.api, { scopes: ['operations:read', 'tasks:read'] });
      const reader = new GraphqlClient(service.baseUrl, key);
      const followed = reader.follow<Update>(FOLLOW);
      await until('the first view', () => followed.events.length > 0);
      await service.api.call('PATCH', `/v1/api_keys/${id}`, { scopes: ['tasks:read'] });
      await expect(followed.ended).rejects.toMatchObject({ code: 4403 });
      await reader.close();
    });
  });

  describe('a socket', () => {
    it('executes queries and mutations too', async () => {
      const followed = graphql.follow('{ viewer { id } }');
      await followed.ended;
      expect(followed.data).toEqual([{ viewer: { id: service.keyId } }]);
      const { body } = await service.api.create(aHang);
      const cancelled = graphql.follow(`mutation { cancelTask(taskId: "${body.task_id}") { status } }`);
      await cancelled.ended;
      expect(cancelled.data).toEqual([{ cancelTask: { status: 'FAILED' } }]);
    });

    it('names the request in the audit', async () => {
      await graphql.follow('mutation { setLogLevels(input: {}) { object } }').ended;
      const { data } = await graphql.ask(
        '{ operations { auditEvents(first: 1, action: LOG_LEVELS_SET) { edges { node { actorId requestId } } } } }',
      );
      expect(data).toMatchObject({
        operations: {
          auditEvents: { edges: [{ node: { actorId: service.keyId, requestId: expect.stringMatching(/^req_/) } }] },
        },
      });
    });

    it('sends failures with the request id of its handshake', async () => {
      const socket = await open({ authorization: `Bearer ${service.api.key}` });
      await socket.ready();
      socket.send({ id: '1', type: 'subscribe', payload: { query: '{ task(taskId: "x") { taskId } }' } });
      const { payload } = await socket.message('next');
      expect(payload).toMatchObject({ data: null, errors: [{ extensions: { code: 'task_not_found' } }] });
      const { errors } = payload as { errors: { extensions: { request_id: string } }[] };
      expect(errors[0]!.extensions.request_id).toBe(socket.requestId);
      socket.close();
    });

    it.each([
      ['connectionParams.authorization', { authorization: 'Bearer KEY' }, undefined],
      ['connectionParams.Authorization', { Authorization: 'Bearer KEY' }, undefined],
      ['the header of the handshake', undefined, 'Bearer KEY'],
    ])('accepts the key from %s', async (_, params, header) => {
      const put = (text: string) => text.replace('KEY', service.api.key!);
      const socket = await open(
        params && Object.fromEntries(Object.entries(params).map(([name, value]) => [name, put(value)])),
        header && put(header),
      );
      await socket.ready();
      socket.close();
    });

    it.each([
      ['no key', {}, undefined],
      ['an unknown key', { authorization: `Bearer dr_${'0'.repeat(46)}` }, undefined],
      ['something else', { authorization: 5 }, undefined],
      ['an unknown key in the header', undefined, 'Bearer dr_x'],
    ])('with %s is closed with 4403 before any ack', async (_, params, header) => {
      const socket = await open(params, header);
      expect(await socket.closed).toEqual([4403, 'Forbidden']);
      expect(socket.messages).toEqual([]);
    });

    it('is closed with 4401 when it subscribes before the ack, and 4400 on invalid messages', async () => {
      const early = await open(null);
      early.send({ id: '1', type: 'subscribe', payload: { query: '{ __typename }' } });
      expect((await early.closed)[0]).toBe(4401);
      const nonsense = await open(null);
      nonsense.raw.send('{"type":');
      expect((await nonsense.closed)[0]).toBe(4400);
      const twice = await open(null);
      twice.raw.send('{"type":"ping","type":"ping"}');
      expect((await twice.closed)[0]).toBe(4400);
    });

    it('accepts messages up to 64 kB', async () => {
      const socket = await open({ authorization: `Bearer ${service.api.key}` });
      await socket.ready();
      const envelope = JSON.stringify({ type: 'ping', payload: { pad: '' } }).length;
      socket.send({ type: 'ping', payload: { pad: 'x'.repeat(64 * 1024 - envelope) } });
      await socket.message('pong');
      socket.send({ type: 'ping', payload: { pad: 'x'.repeat(64 * 1024 - envelope + 1) } });
      expect((await socket.closed)[0]).toBe(1009);
    });

    it('allows 50 operations; the next one gets an error', async () => {
      const { body } = await service.api.create(aHang);
      const socket = await open({ authorization: `Bearer ${service.api.key}` });
      await socket.ready();
      const subscribe = (id: number) =>
        socket.send({ id: String(id), type: 'subscribe', payload: { query: ONE, variables: { id: body.task_id } } });
      for (let id = 1; id <= 51; id++) subscribe(id);
      await until('50 events', () => socket.messages.filter(({ type }) => type === 'next').length >= 50);
      const refused = await socket.message('error');
      expect(refused).toMatchObject({ id: '51', payload: [{ extensions: { code: 'rate_limit_exceeded' } }] });
      socket.send({ id: '7', type: 'complete' });
      subscribe(52);
      await until('the 52nd', () => socket.messages.some(({ id, type }) => id === '52' && type === 'next'));
      socket.close();
      await service.api.cancel(body.task_id);
    });

    it('is one of at most 20 per key', async () => {
      const { key } = await anotherKey(service.api);
      const authorization = `Bearer ${key}`;
      const sockets = await Promise.all(Array.from({ length: 20 }, () => open({ authorization })));
      await Promise.all(sockets.map((socket) => socket.ready()));
      const excess = await open({ authorization });
      expect((await excess.closed)[0]).toBe(4429);
      expect(excess.messages).toEqual([]);
      sockets[0]!.close();
      await sockets[0]!.closed;
      const next = await eventually('the place to be free again', async () => {
        const socket = await open({ authorization });
        const isIn = await Promise.race([socket.ready(), socket.closed.then(() => false)]);
        return isIn && socket;
      });
      for (const socket of [...sockets, next]) socket.close();
    });

    it('is closed with 4403 after the revocation of its key', async () => {
      const { id, key } = await anotherKey(service.api);
      const socket = await open({ authorization: `Bearer ${key}` });
      await socket.ready();
      socket.send({ id: '1', type: 'subscribe', payload: { query: ALL } });
      expect((await service.api.call('DELETE', `/v1/api_keys/${id}`)).status).toBe(204);
      expect(await socket.closed).toEqual([4403, 'Forbidden']);
    });

    it('limits documents as HTTP does', async () => {
      const many = Array.from({ length: 31 }, (_, at) => `a${at}: id`).join(' ');
      const [error] = await graphql.follow(`{ viewer { ${many} } }`).ended.catch((errors) => errors);
      expect(error).toMatchObject({
        message: expect.stringContaining('too many aliases'),
        extensions: { code: 'invalid_body' },
      });
      const [long] = await graphql.follow(`${'\n'.repeat(5_000)}{ viewer { id } }`).ended.catch((errors) => errors);
      expect(long).toMatchObject({
        message: expect.stringContaining('too many lines'),
        extensions: { code: 'invalid_body' },
      });
    });

    it('is refused at another path, and without the subprotocol', async () => {
      const elsewhere = new WebSocket(service.baseUrl.replace('http', 'ws') + '/elsewhere', 'graphql-transport-ws');
      const [reply] = await new Promise<[{ statusCode: number }]>((resolve) =>
        elsewhere.once('unexpected-response', (_request, response) => resolve([response as never])),
      );
      expect(reply.statusCode).toBe(404);
      elsewhere.on('error', () => undefined).terminate();
      const spoken = await open(null, undefined, 'graphql-ws').catch((error: Error) => error.message);
      expect(spoken).toMatch(/protocol/i);
    });

    it('is refused with the error envelope when the handshake is broken', async () => {
      const reply = await rawUpgrade(service.baseUrl, { 'sec-websocket-version': '12' });
      expect(reply).toMatch(/^HTTP\/1.1 400 /);
      expect(reply).toContain('"code":"bad_request"');
    });
  });

  it('sends every end to a reader that had paused', async () => {
    const { api } = await tenant();
    const socket = await open({ authorization: `Bearer ${api.key}` });
    await socket.ready();
    socket.send({ id: '1', type: 'subscribe', payload: { query: ALL.replace('progress', 'progress input') } });
    socket.send({ type: 'ping' });
    await socket.message('pong');
    socket.raw.pause();
    // Three states of each are more than the buffers between the two ends hold.
    const prompt = `${aFailure.prompt} ${'x'.repeat(30_000)}`;
    const batches = new BatchClient(api);
    const { id } = await batches.of(Array.from({ length: AMOUNT }, () => ({ ...aFailure, prompt })));
    await batches.untilEnded(id);
    socket.raw.resume();
    const ended = () =>
      socket.messages
        .map(({ payload }) => (payload as { data?: All } | undefined)?.data?.tasksUpdated)
        .filter((state) => state?.status === 'FAILED')
        .map((state) => state!.taskId);
    await until('every end', () => ended().length === AMOUNT);
    expect(new Set(ended()).size).toBe(AMOUNT);
    socket.close();
  });

  interface Message {
    type: string;
    id?: string;
    payload?: unknown;
  }

  /** A socket without a client library. @param params of connection_init; null: it is not sent */
  async function open(params?: object | null, authorization?: string, protocol = 'graphql-transport-ws') {
    const raw = new WebSocket(service.baseUrl.replace('http', 'ws') + '/graphql', protocol, {
      headers: authorization === undefined ? {} : { authorization },
    });
    const messages: Message[] = [];
    let requestId: string | undefined;
    raw.on('upgrade', ({ headers }) => (requestId = headers['x-request-id'] as string));
    raw.on('message', (data) => messages.push(JSON.parse((data as Buffer).toString()) as Message));
    const closed = new Promise<[number, string]>((resolve) =>
      raw.once('close', (code, reason) => resolve([code, reason.toString()])),
    );
    await new Promise((resolve, reject) => raw.once('open', resolve).once('error', reject));
    const send = (message: object) => raw.send(JSON.stringify(message));
    const message = (type: string) =>
      eventually(`a message ${type}`, async () => messages.find((one) => one.type === type));
    if (params !== null) send({ type: 'connection_init', ...(params && { payload: params }) });
    return {
      raw,
      messages,
      closed,
      send,
      message,
      get requestId() {
        return requestId;
      },
      ready: () => message('connection_ack'),
      close: () => raw.close(1000),
    };
  }
});

async function rawUpgrade(baseUrl: string, headers: Record<string, string>): Promise<string> {
  const { connect } = await import('node:net');
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  const lines = {
    host: hostname,
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  socket.write(
    `GET /graphql HTTP/1.1\r\n${Object.entries(lines)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );
  let text = '';
  for await (const chunk of socket) text += (chunk as Buffer).toString();
  return text;
}
