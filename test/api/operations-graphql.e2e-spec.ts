import { snakeCase } from '../../src/platform/schema/snake-case.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { aHang } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { eventually } from '../support/wait.ts';

const PROCESS = 'id object role version host startedAt slots';
const PLACE = 'place object provider host credential concurrency models { model upstreamModel }';
const TASK =
  'taskId object apiKeyId model kind status waitingFor stuck attempt workerId createdAt deadlineAt errorCode';
const PAUSE = 'id object kind model provider place reason refuseCreates models tasks until createdAt createdBy endedAt';
const REPLAY = 'id object status since until endpointId apiKeyId events total queued createdAt createdBy endedAt';

interface Page<Node> {
  edges: { node: Node }[];
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
}

/** Names and values of enums as REST has them, so that both edges can be compared. */
function asRest(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asRest);
  if (typeof value === 'string' && /^[A-Z][A-Z_]+$/.test(value)) return value.toLowerCase();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [snakeCase(name), asRest(inner)]));
}

describe('the GraphQL of operators', () => {
  let service: OwnService;
  let graphql: GraphqlClient;
  beforeAll(async () => {
    service = await startOwnService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
  });
  afterAll(async () => {
    await graphql.close();
    await service.close();
  });

  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's
  const ask = async (query: string, variables: object = {}): Promise<any> => {
    const { data, errors } = await graphql.ask(query, variables);
    expect(errors).toBeUndefined();
    return data;
  };
  const failure = async (query: string) => (await graphql.ask(query)).errors![0]!.extensions;
  const rest = async (path: string) => (await service.api.get<{ data: object[] }>(`/v1/operations/${path}`)).body;

  it('shows what REST shows', async () => {
    const { body: task } = await service.api.create(aHang);
    await service.api.until(task.task_id, 'running');
    await eventually('the process', async () => (await rest('processes')).data.length === 1);
    const { operations } = await ask(`{ operations {
      overview { object version migration queue { model running } processes { live } }
      processes { ${PROCESS} } providers { ${PLACE} } keys { apiKeyId running maxRunning weight }
      tasks(filter: { model: "gpt-image-2", state: null }) { edges { node { ${TASK} timeline { type attempt provider } } } }
      task(taskId: "${task.task_id}") { taskId }
    } }`);
    const { overview, processes, providers, keys, tasks } = asRest(operations) as Record<string, never>;
    expect(overview).toMatchObject({ object: 'operations', queue: [{ model: 'gpt-image-2', running: 1 }] });
    expect((await service.api.get('/v1/operations')).body).toMatchObject({ version: overview['version'] });
    expect((await rest('processes')).data).toMatchObject(processes);
    expect((await rest('providers')).data).toMatchObject(providers);
    expect((await rest('keys')).data).toMatchObject(keys);
    const [{ node }] = (tasks as Page<{ timeline: object[] }>).edges as [{ node: { timeline: object[] } }];
    const { timeline, ...fields } = node;
    expect((await rest('tasks')).data).toMatchObject([fields]);
    expect((await rest(`tasks/${task.task_id}/timeline`)).data).toMatchObject(timeline);
    expect(timeline.length).toBeGreaterThan(1);
    expect(operations.task).toEqual({ taskId: task.task_id });

    const { id } = operations.processes[0];
    expect(await ask(`{ operations { process(id: "${id}") { id } } }`)).toEqual({ operations: { process: { id } } });
    await service.api.cancel(task.task_id);
  });

  it('acts on processes and tasks', async () => {
    const { body: one } = await service.api.create(aHang);
    const { body: two } = await service.api.create(aHang);
    for (const { task_id } of [one, two]) await service.api.until(task_id, 'running');
    const act = async (mutation: string) => Object.values(await ask(`mutation { ${mutation} }`))[0];
    const released = await act(`releaseOperatorTask(taskId: "${one.task_id}") { taskId attempt }`);
    expect((released as { attempt: number }).attempt).toBeGreaterThan(1); // the next claim may have raised it again
    expect(await act(`failOperatorTask(taskId: "${one.task_id}", code: INTERNAL_ERROR) { status errorCode }`)).toEqual({
      status: 'FAILED',
      errorCode: 'internal_error',
    });
    expect(await act(`releaseOperatorTasks(filter: { model: "sora-2" }) { matched changed }`)).toEqual({
      matched: 0,
      changed: 0,
    });
    expect(await act(`cancelOperatorTasks(filter: { model: "gpt-image-2", state: null }) { changed }`)).toEqual({
      changed: 1,
    });
    expect(await failure('mutation { failOperatorTasks(filter: {}, code: INTERNAL_ERROR) { changed } }')).toMatchObject(
      { code: 'invalid_value', param: 'filter' },
    );
    const { operations } = await ask('{ operations { processes { id } } }');
    const { id } = operations.processes[0];
    expect(await act(`drainProcess(id: "${id}") { drainRequested }`)).toEqual({ drainRequested: true });
    expect(await act(`resumeProcess(id: "${id}") { drainRequested }`)).toEqual({ drainRequested: false });
    expect(await act(`closeCircuit(place: 1) { circuitOpenIn }`)).toEqual({ circuitOpenIn: [] });
    const audit = await ask(
      `{ operations { auditEvents(first: 1, action: PROCESS_DRAIN_REQUESTED, targetId: "${id}") { edges { node { action ip requestId } } } } }`,
    );
    expect(audit.operations.auditEvents.edges).toMatchObject([
      { node: { action: 'PROCESS_DRAIN_REQUESTED', ip: '127.0.0.1', requestId: expect.stringMatching(/^req_/) } },
    ]);
  });

  it('pauses and replays', async () => {
    const made = await ask(`mutation ($input: CreatePauseInput!) { createPause(input: $input) { ${PAUSE} } }`, {
      input: { model: 'sora-2', provider: null, reason: 'incident', until: null, refuseCreates: null },
    });
    expect(await rest('pauses')).toMatchObject({ data: [asRest(made.createPause)] });
    const { operations } = await ask('{ operations { pauses(first: 1) { edges { node { id } } } } }');
    expect(operations.pauses.edges).toEqual([{ node: { id: made.createPause.id } }]);
    const ended = await ask(`mutation { endPause(id: "${made.createPause.id}") { id } }`);
    expect(ended).toEqual({ endPause: { id: made.createPause.id } });
    const after = await ask(
      '{ operations { now: pauses { edges { cursor } } all: pauses(ended: true) { edges { cursor } } } }',
    );
    expect([after.operations.now.edges.length, after.operations.all.edges.length]).toEqual([0, 1]);
    expect(await failure('{ operations { pauses(after: "x") { edges { cursor } } } }')).toMatchObject({
      param: 'after',
    });

    const replay = await ask(
      `mutation ($input: ReplayWebhooksInput!) { replayWebhooks(input: $input) { ${REPLAY} } }`,
      { input: { since: 1, until: 2, endpointId: null, events: null } },
    );
    const { id } = replay.replayWebhooks;
    expect(replay.replayWebhooks).toMatchObject({ events: 'FAILED', total: 0 });
    const read = await ask(
      `{ operations { webhookReplay(id: "${id}") { id } webhookReplays(first: 1) { edges { node { id } } } } }`,
    );
    expect(read.operations).toEqual({ webhookReplay: { id }, webhookReplays: { edges: [{ node: { id } }] } });
    await ask(`mutation { cancelWebhookReplay(id: "${id}") { status } }`);
  });

  it('names the request in the audit also over a socket', async () => {
    await graphql.follow('mutation { setLogLevels(input: {}) { object } }').ended;
    const { operations } = await ask(
      '{ operations { auditEvents(first: 1, action: LOG_LEVELS_SET) { edges { node { actorType requestId } } } } }',
    );
    expect(operations.auditEvents.edges).toEqual([
      { node: { actorType: 'API_KEY', requestId: expect.stringMatching(/^req_/) } },
    ]);
  });

  it('asks for operations:read also where a mutation returns more than its own scope shows', async () => {
    const { key } = await anotherKey(service.api, { scopes: ['operations:manage'] });
    const manager = new GraphqlClient(service.baseUrl, key);
    const { body: task } = await service.api.create(aHang);
    const { errors } = await manager.ask(
      `mutation { cancelOperatorTask(taskId: "${task.task_id}") { status timeline { type } } }`,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'insufficient_scope' } }]);
    expect((await service.api.get(`/v1/tasks/${task.task_id}`)).body.status).toBe('failed');
  });

  describe('operationsUpdated', () => {
    const FOLLOW =
      'subscription { operationsUpdated { overview { pauses queue { running } } pauses { edges { cursor } } } }';
    interface Update {
      operationsUpdated: { pauses: { edges: object[] } };
    }

    it('sends a view at once, and then one every two seconds', async () => {
      const followed = graphql.follow<Update>(FOLLOW);
      await eventually('the first view', async () => followed.events.length === 1, 1_500);
      const begunMs = performance.now();
      expect(followed.data[0]!.operationsUpdated.pauses.edges).toEqual([]);
      const { body } = await service.api.call<{ id: string }>('POST', '/v1/operations/pauses', {
        model: 'sora-2',
        reason: 'x',
      });
      await eventually('the pause', async () => followed.data.at(-1)!.operationsUpdated.pauses.edges.length === 1);
      const elapsedMs = performance.now() - begunMs;
      expect(followed.events.length).toBeLessThanOrEqual(1 + Math.ceil(elapsedMs / 1_900));
      expect(elapsedMs).toBeGreaterThan(1_500);
      followed.stop();
      await service.api.call('DELETE', `/v1/operations/pauses/${body.id}`);
    });

    it('ends within 5 s when the key loses operations:read', async () => {
      const { id, key } = await anotherKey(service.api, { scopes: ['operations:read', 'tasks:read'] });
      const reader = new GraphqlClient(service.baseUrl, key);
      const followed = reader.follow<Update>(FOLLOW);
      await eventually('the first view', async () => followed.events.length === 1);
      await service.api.call('PATCH', `/v1/api_keys/${id}`, { scopes: ['tasks:read'] });
      const changedMs = performance.now();
      await expect(followed.ended).rejects.toMatchObject({ code: 4403 });
      expect(performance.now() - changedMs).toBeLessThan(5_000);
      await reader.close();
    });
  });
});
