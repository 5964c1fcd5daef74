import { type ErrorBody, type TaskBody, aCat, aFailure, aHang } from '../support/clients/api.ts';
import { type SharedService, joinService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';

interface Counts {
  queued: number;
  running: number;
  succeeded: number;
  failed: number;
  capped: boolean;
}

describe('filters of tasks', () => {
  let service: SharedService;
  let graphql: GraphqlClient;
  const made: Record<string, string> = {};

  beforeAll(async () => {
    service = await joinService();
    graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const prompts = {
      lighthouse: { ...aCat, prompt: 'A Lighthouse at dusk, 50% fog' },
      harbour: { ...aCat, prompt: 'A harbour at DUSK' },
      refused: aFailure,
      late: { ...aCat, prompt: '#fail:provider_timeout at dusk' },
    };
    for (const [name, body] of Object.entries(prompts)) {
      made[name] = (await service.api.create(body)).body.task_id;
      await service.api.untilFinal(made[name]!);
    }
    made.hang = (await service.api.create(aHang)).body.task_id;
    await service.api.until(made.hang, 'running');
  });
  afterAll(() => service.close());

  const names = (ids: string[]) => ids.map((id) => Object.keys(made).find((name) => made[name] === id)).sort();

  it.each([
    ['statuses=succeeded', '{ statuses: [SUCCEEDED] }', ['harbour', 'lighthouse']],
    ['statuses=running,failed', '{ statuses: [RUNNING, FAILED] }', ['hang', 'late', 'refused']],
    ['statuses=running&statuses=failed', '{ statuses: [FAILED, RUNNING] }', ['hang', 'late', 'refused']],
    ['statuses=queued', '{ statuses: [QUEUED] }', []],
    ['statuses=queued,running&status=failed', '{ statuses: [QUEUED, RUNNING], status: FAILED }', []],
    ['error_code=provider_timeout', '{ errorCode: PROVIDER_TIMEOUT }', ['late']],
    ['error_code=worker_lost', '{ errorCode: WORKER_LOST }', []],
    ['search=dusk', '{ search: "dusk" }', ['harbour', 'late', 'lighthouse']],
    ['search=DUSK%20light', '{ search: " DUSK light " }', ['lighthouse']],
    ['search=50%25', '{ search: "50%" }', ['lighthouse']],
    ['search=5_%25', '{ search: "5_%" }', []],
    [
      'search=dusk&statuses=succeeded,failed&error_code=provider_timeout',
      '{ search: "dusk", statuses: [SUCCEEDED, FAILED], errorCode: PROVIDER_TIMEOUT }',
      ['late'],
    ],
  ] as const)('%s selects the same over REST and GraphQL, in lists and in counts', async (query, filter, expected) => {
    const rest = await service.api.get<{ data: TaskBody[] }>(`/v1/tasks?${query}`);
    expect([rest.status, rest.text]).toEqual([200, expect.any(String)]);
    expect(names(rest.body.data.map(({ task_id }) => task_id))).toEqual(expected);
    const { data } = await graphql.ask<{ tasks: { edges: { node: { taskId: string } }[] }; taskCounts: Counts }>(
      `{ tasks(filter: ${filter}) { edges { node { taskId } } } taskCounts(filter: ${filter}) { queued running succeeded failed capped } }`,
    );
    expect(names(data.tasks.edges.map(({ node }) => node.taskId))).toEqual(expected);
    const { queued, running, succeeded, failed, capped } = data.taskCounts;
    expect([queued + running + succeeded + failed, capped]).toEqual([expected.length, false]);
    expect((await service.api.get<Counts>(`/v1/tasks/counts?${query}`)).body).toEqual(data.taskCounts);
  });

  it('are counted by status', async () => {
    const { body } = await service.api.get<Counts>('/v1/tasks/counts');
    expect(body).toEqual({ queued: 0, running: 1, succeeded: 2, failed: 2, capped: false });
  });

  it('select live news too', async () => {
    const followed = graphql.follow<{ tasksUpdated: { taskId: string } }>(
      'subscription { tasksUpdated(filter: { search: "beacon", statuses: [SUCCEEDED] }) { taskId } }',
    );
    const beacons: string[] = [];
    await eventually('the news', async () => {
      await service.api.create({ ...aCat, prompt: 'An owl' }, { prefer: 'wait=20' });
      beacons.push((await service.api.create({ ...aCat, prompt: 'A Beacon' }, { prefer: 'wait=20' })).body.task_id);
      return followed.data.length > 0; // the subscription may begin after the first of them
    });
    for (const { tasksUpdated } of followed.data) expect(beacons).toContain(tasksUpdated.taskId);
    await graphql.close();
  });

  it.each([
    ['statuses=done', 'invalid_value', 'statuses[0]'],
    ['statuses=', 'invalid_value', 'statuses[0]'],
    ['statuses=failed,failed', 'invalid_value', 'statuses'],
    ['error_code=none', 'invalid_value', 'error_code'],
    ['search=', 'invalid_value', 'search'],
    ['search=%20', 'invalid_value', 'search'],
    [`search=${'x'.repeat(201)}`, 'string_too_long', 'search'],
    ['search=a+b+c+d+e+f+g+h+i', 'invalid_value', 'search'],
    ['search=a&search=b', 'invalid_type', 'search'],
    ['limit=1', 'unknown_parameter', 'limit'],
  ])('refuse %s', async (query, code, param) => {
    const { status, body } = await service.api.get<ErrorBody>(`/v1/tasks/counts?${query}`);
    expect({ status, code: body.error?.code, param: body.error?.param }).toEqual({ status: 400, code, param });
  });

  it('refuse text for a list in the body of a cancel', async () => {
    const { status, body } = await service.api.call<ErrorBody>('POST', '/v1/tasks/cancel', {
      filter: { statuses: 'queued' },
    });
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_type', 'filter.statuses']);
  });

  it('are also in the first answer to a repeated creation', async () => {
    const create = `mutation { createGeneration(input: { model: "gpt-image-2", prompt: "A cat" }, idempotencyKey: "first") { taskId sequence requestId cover { url } } }`;
    type Created = { createGeneration: { taskId: string; requestId: string } };
    const { data: first } = await graphql.ask<Created>(create);
    const { data: again } = await graphql.ask<Created>(create);
    expect(again.createGeneration).toMatchObject({
      taskId: first.createGeneration.taskId,
      requestId: first.createGeneration.requestId,
    });
  });

  it('show what a list needs: the order of news, the beginning of the prompt, the request', async () => {
    const { headers, body } = await service.api.create({ ...aCat, prompt: `${'🌊'.repeat(5)} and more` });
    const { data } = await graphql.ask<{
      task: { sequence: number; start: string; promptStart: string; requestId: string };
    }>(`{ task(taskId: "${body.task_id}") { sequence requestId promptStart start: promptStart(characters: 3) } }`);
    expect(data.task).toMatchObject({ start: '🌊🌊🌊', promptStart: `${'🌊'.repeat(5)} and more` });
    expect(data.task.requestId).toBe(headers.get('x-request-id'));
    expect(data.task.sequence).toBeGreaterThan(0);
    const { errors } = await graphql.ask(`{ task(taskId: "${body.task_id}") { promptStart(characters: 1001) } }`);
    expect(errors?.[0]?.extensions.code).toBe('value_out_of_range');
  });
});
