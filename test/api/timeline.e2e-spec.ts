// Own settings for the providers: stubs of them, one of which is away.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOSE_WORKER } from '../support/moved-task.ts';
import { aCat, aFailure, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { freePort } from '../support/free-port.ts';
import { joinService, type OwnService, type SharedService, startOwnService } from '../support/service.ts';
import { ArkStub } from '../support/stubs/ark.stub.ts';
import { eventually } from '../support/wait.ts';

interface Moment {
  at_ms: number;
  type: string;
  attempt: number;
  provider: string | null;
  detail: string | null;
}

const timelineOf = async (api: Api, id: string) => {
  const { body } = await api.get<{ object: string; data: Moment[]; has_more: boolean }>(`/v1/tasks/${id}/timeline`);
  expect([body.object, body.has_more]).toEqual(['list', false]);
  const times = body.data.map(({ at_ms }) => at_ms);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  return body.data;
};
const typesOf = async (api: Api, id: string) => (await timelineOf(api, id)).map(({ type }) => type);

describe('the timeline of a task', () => {
  let service: SharedService;
  beforeAll(async () => {
    service = await joinService();
  });
  afterAll(() => service?.close());

  it('says when it waited, started, was stored and ended', async () => {
    const before = Date.now();
    const { body } = await service.api.create(aCat);
    await service.api.untilFinal(body.task_id);
    const moments = await timelineOf(service.api, body.task_id);
    expect(moments.map(({ type, attempt, provider, detail }) => ({ type, attempt, provider, detail }))).toEqual([
      { type: 'queued', attempt: 0, provider: null, detail: null },
      { type: 'started', attempt: 1, provider: null, detail: null },
      { type: 'storing', attempt: 1, provider: 'sandbox', detail: null },
      { type: 'succeeded', attempt: 1, provider: null, detail: null },
    ]);
    expect(Math.abs(moments[0]!.at_ms - before)).toBeLessThan(3_600_000);
  });

  it('says why the task failed, and who ended it', async () => {
    const failed = (await service.api.create(aFailure)).body.task_id;
    await service.api.untilFinal(failed);
    expect((await timelineOf(service.api, failed)).slice(-2)).toMatchObject([
      { type: 'started', detail: null },
      { type: 'failed', detail: 'content_policy_violation' },
    ]);
    const cancelled = (await service.api.create(aHang)).body.task_id;
    await service.api.until(cancelled, 'running');
    await service.api.cancel(cancelled);
    expect(await typesOf(service.api, cancelled)).toEqual(['queued', 'started', 'cancel_requested', 'failed']);
  });

  it('says that the limit of the API key held the task', async () => {
    const { key } = await anotherKey(service.api, { limits: { max_running: 1 } });
    const other = new Api(service.baseUrl, key);
    const [first, second] = [(await other.create(aHang)).body.task_id, (await other.create(aFailure)).body.task_id];
    await eventually('the limit', async () => (await typesOf(other, second)).includes('held'));
    expect((await timelineOf(other, second)).at(-1)).toMatchObject({ attempt: 0, detail: 'key_limit', provider: null });
    const estimate = async () => (await other.get<object>(`/v1/tasks/${second}/estimate`)).body;
    const unknown = { position: null, estimated_start_at: null, estimated_completion_at: null };
    expect(await estimate()).toMatchObject({ status: 'queued', waiting_for: 'key_limit', ...unknown });
    await other.cancel(first);
    await other.untilFinal(second);
    expect(await typesOf(other, second)).toEqual(['queued', 'held', 'released', 'started', 'failed']);
    expect(await estimate()).toMatchObject({ status: 'failed', waiting_for: null, ...unknown });
  });

  it('says that a worker was lost, and that another one took over', async () => {
    const { body } = await service.api.create(aHang);
    await service.api.until(body.task_id, 'running');
    await service.api.cancel(body.task_id);
    const lost = (await service.api.create(aFailure)).body.task_id;
    await service.api.untilFinal(lost);
    // As a worker leaves it that is killed: the lease expires.
    await queryOnce(service.database.url, LOSE_WORKER, [lost, null]);
    await eventually('the end', async () => (await typesOf(service.api, lost)).includes('failed'));
    const moments = await timelineOf(service.api, lost);
    expect(moments.filter(({ type }) => ['worker_lost', 'taken_over'].includes(type))).toMatchObject([
      { type: 'worker_lost', attempt: 1 },
      { type: 'taken_over', attempt: 2 },
    ]);
  });

  it('says when the references were ready', async () => {
    const picture = (await service.api.create(aCat)).body.task_id;
    await service.api.untilFinal(picture);
    const file = picture.replace('task_', 'file_') + '_0';
    const { body } = await service.api.create({ ...aCat, reference_images: [file] });
    await service.api.untilFinal(body.task_id);
    const types = await typesOf(service.api, body.task_id);
    expect(types).toEqual(['queued', 'started', 'references_ready', 'storing', 'succeeded']);
  });

  it('is Task.timeline in GraphQL, of many tasks at once', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const { data } = await graphql.ask<{ tasks: { edges: { node: { taskId: string; timeline: object[] } }[] } }>(
      '{ tasks(first: 3) { edges { node { taskId timeline { atMs type attempt provider detail } } } } }',
    );
    for (const { node } of data.tasks.edges) {
      const moments = await timelineOf(service.api, node.taskId);
      expect(node.timeline).toEqual(
        moments.map(({ at_ms, type, ...rest }) => ({ atMs: at_ms, type: type.toUpperCase(), ...rest })),
      );
    }
    await graphql.close();
  });

  it('is not known to others', async () => {
    const { body } = await service.api.create(aFailure);
    const other = new Api(service.baseUrl, (await anotherKey(service.api)).key);
    const answer = await other.get<ErrorBody>(`/v1/tasks/${body.task_id}/timeline`);
    expect([answer.status, answer.body.error.code]).toEqual([404, 'task_not_found']);
  });
});

describe('the timeline of a task at a provider', () => {
  const ark = new ArkStub();
  const folder = mkdtempSync(join(tmpdir(), 'darkroom-timeline-'));
  const aFilm = { model: 'seedance-2', prompt: 'A slow river', duration: 4 };
  let service: OwnService;
  beforeAll(async () => {
    await ark.start();
    ark.real = true;
    const file = join(folder, 'providers.json');
    const away = { provider: 'comfyui', model: 'default', base_url: `http://127.0.0.1:${await freePort()}` };
    const seedance = { provider: 'ark', model: 'doubao-seedance-2-0-260128', base_url: ark.baseUrl, concurrency: 1 };
    const models = { 'seedance-2': [seedance], 'gpt-image-2': [away, { provider: 'sandbox', model: 'sandbox' }] };
    writeFileSync(file, JSON.stringify({ models }));
    service = await startOwnService({ PROVIDERS: file, ARK_API_KEY: ark.key, PROVIDER_POLL_INTERVAL_MS: '20' });
  });
  afterAll(async () => {
    await service?.close();
    await ark.stop();
    rmSync(folder, { recursive: true });
  });

  const query = <Row>(statement: string, values: unknown[]) => queryOnce<Row>(service.database.url, statement, values);

  it('says when the task was submitted and accepted, and what held it before', async () => {
    ark.endings.push('never');
    const first = (await service.api.create(aFilm)).body.task_id;
    await eventually('the first film', async () => (await typesOf(service.api, first)).includes('accepted'));
    const second = (await service.api.create(aFilm)).body.task_id;
    await eventually('the hold', async () => (await typesOf(service.api, second)).includes('held'));
    const ask = async () => (await service.api.get<object>(`/v1/tasks/${second}/estimate`)).body;
    expect(await ask()).toMatchObject({
      status: 'running',
      position: null,
      waiting_for: 'provider_limit',
      estimated_completion_at: null,
    });
    // Claimed and given back several times meanwhile, which is no news.
    const attempts = async () =>
      (await query<{ attempt: number }>('select attempt from tasks where id = $1', [second]))[0]!.attempt;
    await eventually('more attempts', async () => (await attempts()) > 3);
    expect((await typesOf(service.api, second)).filter((type) => type !== 'queued')).toEqual(['started', 'held']);
    await service.api.cancel(first);
    await service.api.untilFinal(second);
    const moments = await timelineOf(service.api, second);
    expect(moments.map(({ type, provider }) => [type, provider])).toEqual([
      ['queued', null],
      ['started', null],
      ['held', null],
      ['released', null],
      ['submitting', 'ark'],
      ['accepted', 'ark'],
      ['storing', 'ark'],
      ['succeeded', null],
    ]);
    expect(moments[2]!.detail).toBe('provider_limit');
    expect(JSON.stringify(moments)).not.toMatch(/doubao|127\.0\.0\.1|right/);
  });

  it('says which provider refused it, and that the next one went on', async () => {
    const { body } = await service.api.create(aCat);
    await service.api.untilFinal(body.task_id);
    const moments = await timelineOf(service.api, body.task_id);
    expect(moments.map(({ type, provider, detail }) => [type, provider, detail]).slice(2, 5)).toEqual([
      ['submitting', 'comfyui', null],
      ['refused', 'comfyui', 'provider_unavailable'],
      ['storing', 'sandbox', null],
    ]);
  });

  it('has at most 200 entries: the middle goes', async () => {
    const { body } = await service.api.create(aFilm);
    await service.api.untilFinal(body.task_id);
    const refusals = Array.from({ length: 199 }, (_, n) => [
      1_000 * body.created_at - 200 + n,
      'refused',
      n + 1,
      null,
      null,
    ]);
    await query(LOSE_WORKER, [body.task_id, JSON.stringify(refusals)]);
    await eventually('the end', async () => (await typesOf(service.api, body.task_id)).includes('succeeded'));
    const moments = await timelineOf(service.api, body.task_id);
    expect(moments.length).toBeLessThanOrEqual(200);
    expect(moments.map(({ type }) => type).slice(-4)).toEqual(['submitting', 'accepted', 'storing', 'succeeded']);
    const [row] = await query<{ length: number }>(
      'select jsonb_array_length(timeline) as length from tasks where id = $1',
      [body.task_id],
    );
    expect(row!.length).toBeLessThanOrEqual(200);
    expect(moments.find(({ type, attempt }) => type === 'refused' && attempt === 1)).toBeDefined();
  });
});
