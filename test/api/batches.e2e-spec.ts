// Own settings: a small bound of items, and a short sweep.
import { Client } from 'pg';
import { aCat, aFailure, aHang, Api, type ErrorBody } from '../support/clients/api.ts';
import { BatchClient, type BatchBody, type BatchErrorBody, linesOf } from '../support/clients/batches.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { EventReader } from '../support/clients/event-reader.ts';
import { aPicture, FilesClient } from '../support/clients/files.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';
import { Receiver, verified } from '../support/servers/receiver.ts';
import { type OwnService, startOwnService } from '../support/service.ts';
import { eventually } from '../support/wait.ts';

const finalItems = ({ counts }: BatchBody): number =>
  counts.succeeded + counts.failed + counts.cancelled + counts.invalid;

const aSlowFailure = { model: 'gpt-image-2', prompt: '#delay:0.5 #fail:provider_rejected' };
const line = (custom_id: string, body: object, more: object = {}) =>
  JSON.stringify({ custom_id, method: 'POST', url: '/v1/generations', body, ...more });

let service: OwnService;
let batches: BatchClient;
beforeAll(async () => {
  service = await startOwnService({ BATCH_MAX_ITEMS: '300', TASK_SWEEP_S: '0.3' });
  batches = new BatchClient(service.api);
});
afterAll(() => service.close());

describe('a batch', () => {
  let other: BatchClient;
  let database: Client;
  beforeAll(async () => {
    other = new BatchClient(new Api(service.baseUrl, (await anotherKey(service.api)).key));
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(() => database.end());

  const refused = async (body: unknown, status = 400) => {
    const reply = await batches.create<BatchErrorBody>(body);
    expect(reply.status).toBe(status);
    return reply.body.error;
  };
  const stored = async () => {
    const { rows } = await database.query(
      `select (select count(*)::int from batches) as batches, (select count(*)::int from tasks) as tasks,
              (select sum(queued)::int from key_load) as queued`,
    );
    return rows[0] as { batches: number; tasks: number; queued: number | null };
  };

  it('makes a task of every item, and ends with the counts of what became of them', async () => {
    const { status, headers, body } = await batches.create({
      requests: [
        { custom_id: 'cat', body: { ...aCat, metadata: { a: 'b' } } },
        { custom_id: 'refused', body: aFailure },
        { body: aFailure },
      ],
      metadata: { order: '7', ['🐈'.repeat(64)]: '🐈'.repeat(512) },
      completion_window: '24h',
    });
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/v1/batches/${body.id}`);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(body).toEqual({
      id: expect.stringMatching(/^batch_[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      object: 'batch',
      endpoint: '/v1/generations',
      status: 'in_progress',
      progress: 0,
      created_at: expect.any(Number),
      in_progress_at: body.created_at,
      completed_at: null,
      cancelling_at: null,
      cancelled_at: null,
      expires_at: body.created_at + 86_400,
      input_file_id: null,
      output_file_id: null,
      error_file_id: null,
      completion_window: '24h',
      request_counts: { total: 3, completed: 0, failed: 0 },
      counts: { queued: 3, running: 0, succeeded: 0, failed: 0, cancelled: 0, invalid: 0 },
      metadata: { order: '7', ['🐈'.repeat(64)]: '🐈'.repeat(512) },
    });
    const ended = await batches.untilEnded(body.id);
    expect(ended).toMatchObject({
      status: 'completed',
      progress: 100,
      cancelled_at: null,
      output_file_id: `file_${body.id.slice(6)}_output`,
      error_file_id: `file_${body.id.slice(6)}_errors`,
      request_counts: { total: 3, completed: 1, failed: 2 },
      counts: { queued: 0, running: 0, succeeded: 1, failed: 2, cancelled: 0, invalid: 0 },
      usage: { images: 1, video_seconds: 0, currency: 'USD' },
    });
    expect(ended.completed_at).toBeGreaterThanOrEqual(ended.created_at);
    const tasks = await batches.tasks(body.id);
    expect(tasks.map(({ batch, source }) => ({ batch, source }))).toEqual([
      { batch: { id: body.id, index: 0, custom_id: 'cat' }, source: 'batch' },
      { batch: { id: body.id, index: 1, custom_id: 'refused' }, source: 'batch' },
      { batch: { id: body.id, index: 2, custom_id: null }, source: 'batch' },
    ]);
    expect(tasks[0]).toMatchObject({ status: 'succeeded', metadata: { a: 'b' }, input: { prompt: aCat.prompt } });
    const usage = await service.api.get<{ data: { results: object[] }[] }>(
      `/v1/usage?start_time=${body.created_at - 60}&bucket_width=all&group_by=batch_id`,
    );
    expect(usage.body.data[0]?.results).toContainEqual(
      expect.objectContaining({ batch_id: body.id, tasks: 3, succeeded: 1, failed: 2 }),
    );
  });

  it('has results that can be read while it runs, in the order of the items, with links that work', async () => {
    const { id } = await batches.of([aHang, aCat, aFailure]);
    const results = await eventually('two results', async () => {
      const lines = await batches.results(id);
      return lines.length === 2 && lines;
    });
    const [cat, failure] = results;
    expect(cat).toMatchObject({ index: 1, custom_id: null, error: null, response: { status_code: 200 } });
    expect(cat?.response?.request_id).toMatch(/^req_/);
    expect(cat?.response?.body).toMatchObject({ task_id: cat?.task_id, status: 'succeeded', object: 'task' });
    expect(failure).toMatchObject({ index: 2, response: null, error: { code: 'content_policy_violation' } });
    expect(new Set(results.map((result) => result.id)).size).toBe(2);
    expect((await batches.results(id, '?status=succeeded')).map(({ index }) => index)).toEqual([1]);
    expect((await batches.results(id, '?status=failed')).map(({ index }) => index)).toEqual([2]);
    expect((await service.api.get<ErrorBody>(`/v1/batches/${id}/results?status=all`)).body.error).toMatchObject({
      code: 'invalid_value',
      param: 'status',
    });
    const reply = await service.api.get(`/v1/batches/${id}/results`);
    expect(reply.headers.get('content-type')).toContain('application/jsonl');
    const running = await batches.read(id);
    expect(running).toMatchObject({ status: 'in_progress', progress: 66, output_file_id: null, error_file_id: null });
    expect((await service.api.get(`/v1/files/file_${id.slice(6)}_output/content`)).status).toBe(404);
    await batches.cancel(id);
  });

  it('answers with the same results through its two files, for its own key only', async () => {
    const { id } = await batches.of([aFailure, aCat]);
    const { output_file_id, error_file_id, completed_at } = await batches.untilEnded(id);
    for (const [file, status] of [
      [output_file_id, 'succeeded'],
      [error_file_id, 'failed'],
    ]) {
      const reply = await service.api.get(`/v1/files/${file}/content`);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toContain('application/jsonl');
      const lines = linesOf(reply.text);
      expect(lines.map(({ index, task_id }) => ({ index, task_id }))).toEqual(
        (await batches.results(id, `?status=${status}`)).map(({ index, task_id }) => ({ index, task_id })),
      );
      expect((await service.api.call('HEAD', `/v1/files/${file}/content`)).status).toBe(200);
      const described = await service.api.get<{ created_at: number; expires_at: number }>(`/v1/files/${file}`);
      expect(described.body).toEqual({
        id: file,
        object: 'file',
        bytes: Buffer.byteLength(reply.text),
        created_at: completed_at,
        expires_at: expect.any(Number),
        filename: `${file}.jsonl`,
        purpose: 'batch_output',
        status: 'processed',
        content_type: reply.headers.get('content-type'),
        sha256: null,
        url: null,
        url_expires_at: null,
        kept: false,
        collection: null,
      });
      expect(described.body.expires_at).toBeGreaterThan(described.body.created_at);
      const inGraphql = await new GraphqlClient(service.baseUrl, service.api.key!).ask<{ file: object }>(
        `{ file(id: "${file}") { id bytes purpose url sha256 } }`,
      );
      const { id: fileId, bytes } = described.body as unknown as { id: string; bytes: number };
      expect(inGraphql.data.file).toEqual({ id: fileId, bytes, purpose: 'BATCH_OUTPUT', url: null, sha256: null });
      expect((await other.api.get(`/v1/files/${file}`)).status).toBe(404);
      expect((await other.api.get(`/v1/files/${file}/content`)).status).toBe(404);
      expect((await new Api(service.baseUrl, null).get(`/v1/files/${file}/content`)).status).toBe(403);
    }
    const { id: failed } = await batches.of([aFailure]);
    const ended = await batches.untilEnded(failed);
    expect(ended.output_file_id).toBeNull();
    expect((await service.api.get(`/v1/files/file_${failed.slice(6)}_output/content`)).status).toBe(404);
  });

  it('is created whole or not at all: one bad item leaves nothing, and every fault is named', async () => {
    const before = await stored();
    const error = await refused({
      requests: [
        { custom_id: 'a', body: aCat },
        { custom_id: 'a', body: aCat },
        { custom_id: 'b', body: { model: 'gpt-image-2' } },
        { custom_id: 'é', body: aCat },
        { body: { ...aCat, reference_images: ['file_01jd8e5t9kf3qs7m2v4xw6yzab'] } },
        { body: { ...aCat, parent_task_id: 'task_01jd8e5t9kf3qs7m2v4xw6yzab' } },
        { custom_id: 'c', body: aCat, method: 'POST' },
        { custom_id: 'd' },
        7,
        { custom_id: 'f', body: { ...aCat, colour: 'red' } },
      ],
    });
    expect(error).toMatchObject({ code: 'batch_invalid', type: 'invalid_request_error', param: null });
    expect(error.errors?.map(({ index, custom_id, code, param }) => [index, custom_id, code, param])).toEqual([
      [1, 'a', 'invalid_value', 'custom_id'],
      [2, 'b', 'missing_required_parameter', 'prompt'],
      [3, null, 'invalid_value', 'custom_id'],
      [4, null, 'file_not_found', 'reference_images[0]'],
      [5, null, 'invalid_value', 'parent_task_id'],
      [6, 'c', 'unknown_parameter', 'method'],
      [7, 'd', 'missing_required_parameter', 'body'],
      [8, null, 'invalid_type', null],
      [9, 'f', 'unknown_parameter', 'colour'],
    ]);
    expect(error.errors?.every(({ line, message }) => line === null && message.length > 10)).toBe(true);
    expect(await stored()).toEqual(before);
  });

  it('names at most 100 faults', async () => {
    const error = await refused({ requests: Array.from({ length: 150 }, () => ({ body: {} })) });
    expect(error.errors).toHaveLength(100);
    expect(error.message).toContain('150 of 150');
  });

  it('skips invalid items when asked to: they are failed items without a task', async () => {
    const { body } = await batches.create({
      on_invalid: 'skip',
      requests: [{ custom_id: 'bad', body: { ...aCat, n: 99 } }, { body: aFailure }, { custom_id: 'worse', body: {} }],
    });
    expect(body).toMatchObject({ counts: { queued: 1, invalid: 2 }, request_counts: { total: 3, failed: 2 } });
    expect(body.errors?.data.map(({ index, code }) => [index, code])).toEqual([
      [0, 'value_out_of_range'],
      [2, 'missing_required_parameter'],
    ]);
    const ended = await batches.untilEnded(body.id);
    expect(ended).toMatchObject({ status: 'completed', counts: { failed: 1, invalid: 2 } });
    const results = await batches.results(body.id);
    expect(results.map(({ index, custom_id, task_id, error }) => [index, custom_id, task_id !== null, error?.code])).toEqual([
      [0, 'bad', false, 'value_out_of_range'],
      [1, null, true, 'content_policy_violation'],
      [2, 'worse', false, 'missing_required_parameter'],
    ]); // prettier-ignore
    expect(await batches.results(body.id, '?status=succeeded')).toEqual([]);
    expect(await batches.tasks(body.id)).toHaveLength(1);
  });

  it('of invalid items only has ended as soon as it is created', async () => {
    const { status, body } = await batches.create({ on_invalid: 'skip', requests: [{ body: {} }] });
    expect(status).toBe(201);
    expect(await batches.read(body.id)).toMatchObject({
      status: 'completed',
      progress: 100,
      output_file_id: null,
      counts: { invalid: 1 },
    });
  });

  it('is refused when its key has had too many invalid items skipped', async () => {
    const { id, key } = await anotherKey(service.api);
    const own = new BatchClient(new Api(service.baseUrl, key));
    const skip = (items: number) =>
      own.create<BatchErrorBody>({ on_invalid: 'skip', requests: Array.from({ length: items }, () => ({ body: {} })) });
    const earlier = await skip(1);
    await database.query('update batches set total = 99998, invalid_items = 99998 where api_key_id = $1', [id]);
    await database.query(
      `insert into batches (id, api_key_id, endpoint, metadata, total, created_at, ended_at, kept_until)
       select 'batch_~' || $1 || n, $1, '/v1/generations', '{}', 1, now(), now(), now() + interval '1 day' from generate_series(1, 10000) n`,
      [id],
    );
    const full = await skip(3);
    expect([earlier.status, full.status, full.body.error.code]).toEqual([201, 400, 'batch_invalid']);
    expect(full.body.error.errors).toHaveLength(3);
    expect([(await skip(2)).status, (await skip(1)).status]).toEqual([201, 400]);
    expect((await own.create({ requests: [{ body: aFailure }] })).status).toBe(201);
  });

  it('is replayed when an equal request, sent at the same moment, took the last room', async () => {
    const { id, key } = await anotherKey(service.api);
    const api = new Api(service.baseUrl, key);
    const create = (name: string) =>
      api.call<BatchErrorBody & { id: string }>('POST', '/v1/batches', body, { 'idempotency-key': name });
    const body = { on_invalid: 'skip', requests: [{ body: {} }] };
    const first = await create('first');
    await database.query('begin');
    await database.query('lock table batches in access exclusive mode');
    // As if the first one were the equal request.
    await database.query('update batches set total = 100000, invalid_items = 100000 where api_key_id = $1', [id]);
    await database.query(`update idempotency_keys set key = 'second' where api_key_id = $1`, [id]);
    const second = create('second');
    await eventually('it to count the invalid items', async () => {
      const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%invalid_items%'`;
      return (await queryOnce(service.database.url, waiting)).length > 0;
    });
    await database.query('commit');
    const { status, text } = await second;
    expect([status, text]).toEqual([first.status, first.text]);
  });

  it('is refused as a whole with the field at fault', async () => {
    const requests = [{ body: aFailure }];
    for (const [body, code, param] of [
      [{}, 'missing_required_parameter', 'requests'],
      [{ requests: [] }, 'invalid_value', 'requests'],
      [{ requests: {} }, 'invalid_type', 'requests'],
      [{ requests: Array.from({ length: 301 }, () => requests[0]) }, 'too_many_items', 'requests'],
      [{ requests, input_file_id: 'file_x' }, 'invalid_value', 'input_file_id'],
      [{ input_file_id: 'file_01jd8e5t9kf3qs7m2v4xw6yzab' }, 'file_not_found', 'input_file_id'],
      [{ requests, endpoint: '/v1/chat/completions' }, 'invalid_value', 'endpoint'],
      [{ requests, completion_window: '48h' }, 'invalid_value', 'completion_window'],
      [{ requests, on_invalid: 'ignore' }, 'invalid_value', 'on_invalid'],
      [{ requests, priority: 'high' }, 'invalid_value', 'priority'],
      [{ requests, task_events: 'no' }, 'invalid_type', 'task_events'],
      [{ requests, metadata: { a: 1 } }, 'invalid_type', 'metadata'],
      [{ requests, metadata: { a: 'x'.repeat(513) } }, 'string_too_long', 'metadata'],
      [{ requests, metadata: { ['🐈'.repeat(65)]: '' } }, 'string_too_long', 'metadata'],
      [{ requests, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, ''])) }, 'too_many_items', 'metadata'], // prettier-ignore
      [{ requests, colour: 'red' }, 'unknown_parameter', 'colour'],
    ] as const) {
      expect(await refused(body)).toMatchObject({ code, param });
    }
  });

  it('is all or none at the bound of the queue, also for concurrent batches', async () => {
    const { key } = await anotherKey(service.api, { limits: { max_queued: 50, max_running: 1 } });
    const bounded = new BatchClient(new Api(service.baseUrl, key));
    const requests = Array.from({ length: 20 }, () => ({ body: aHang }));
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => bounded.create<BatchBody & BatchErrorBody>({ requests })),
    );
    const made = replies.filter(({ status }) => status === 201);
    expect(made).toHaveLength(2);
    for (const { status, body, headers } of replies.filter((reply) => reply.status !== 201)) {
      expect({ status, code: body.error.code }).toEqual({ status: 429, code: 'queue_full' });
      expect(headers.get('retry-after')).not.toBeNull();
    }
    for (const { body } of made) expect((await batches.tasks(body.id)).length).toBe(0); // of another key
    for (const { body } of made) expect(await bounded.tasks(body.id)).toHaveLength(20);
    for (const { body } of made) await bounded.cancel(body.id);
    const { rows } = await database.query('select queued, running from key_load where queued + running <> (select count(*) from tasks t where t.api_key_id = key_load.api_key_id and t.status in ($1, $2))', ['queued', 'running']); // prettier-ignore
    expect(rows).toEqual([]);
  });

  it('is created once for a repeated Idempotency-Key, also by concurrent requests', async () => {
    const requests = [{ body: aFailure }, { body: aFailure }];
    const headers = { 'idempotency-key': 'batch-1' };
    const before = await stored();
    const replies = await Promise.all(Array.from({ length: 5 }, () => batches.create({ requests }, headers)));
    const later = await batches.create({ requests }, headers);
    expect(new Set([...replies, later].map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(later.headers.get('idempotent-replayed')).toBe('true');
    expect(replies.filter((reply) => reply.headers.get('idempotent-replayed') === null)).toHaveLength(1);
    expect((await stored()).batches).toBe(before.batches + 1);
    const reused = await batches.create<ErrorBody>({ requests, metadata: {} }, headers);
    expect(reused.body.error.code).toBe('idempotency_key_reused');
    const asTask = await service.api.create<ErrorBody>(aFailure, headers);
    expect(asTask.body.error.code).toBe('idempotency_key_reused');
    await batches.untilEnded(later.body.id);
    expect((await batches.create({ requests }, headers)).text).toBe(later.text);
    expect((await batches.create<ErrorBody>({ requests: [{ body: {} }] }, { 'idempotency-key': 'b2' })).status).toBe(
      400,
    );
    expect((await batches.create({ requests }, { 'idempotency-key': 'b2' })).status).toBe(201);
  });

  it('is cancelled at once: unfinished items fail, final ones keep their outcome', async () => {
    const { id } = await batches.of([aFailure, ...Array.from({ length: 120 }, () => aHang)]);
    await batches.until(id, 'the first item to fail', ({ counts }) => counts.failed === 1);
    const { status, body } = await batches.cancel(id);
    expect(status).toBe(200);
    expect(['cancelling', 'cancelled']).toContain(body.status);
    const ended = await batches.untilEnded(id);
    expect(ended).toMatchObject({
      status: 'cancelled',
      progress: 100,
      completed_at: null,
      counts: { queued: 0, running: 0, succeeded: 0, failed: 1, cancelled: 120, invalid: 0 },
      request_counts: { total: 121, completed: 0, failed: 121 },
    });
    expect(ended.cancelled_at).toBeGreaterThanOrEqual(ended.cancelling_at!);
    const [first, second] = await batches.results(id);
    expect([first?.error?.code, second?.error?.code]).toEqual(['content_policy_violation', 'task_cancelled']);
    expect((await batches.cancel(id)).body).toEqual(ended);
  });

  it('cannot be cancelled after its end', async () => {
    const { id } = await batches.of([aFailure]);
    const ended = await batches.untilEnded(id);
    expect(await batches.cancel(id)).toMatchObject({ status: 200, body: ended });
  });

  it('is finished by the sweep when the process that cancelled it died on the way', async () => {
    const { id } = await batches.of([aHang, aHang]);
    await database.query(`update batches set status = 'cancelling', cancelling_at = now() where id = $1`, [id]);
    expect(await batches.untilEnded(id)).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 } });
  });

  it('of another key does not exist', async () => {
    const { id } = await batches.of([aHang]);
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/cancel'],
      ['GET', '/results'],
      ['HEAD', '/results'],
      ['GET', '/events'],
      ['HEAD', '/events'],
    ] as const) {
      const reply = await other.api.call<ErrorBody | undefined>(method, `/v1/batches/${id}${path}`);
      expect(reply.status).toBe(404);
      if (method !== 'HEAD') expect(reply.body?.error).toMatchObject({ code: 'batch_not_found', param: 'id' });
    }
    expect((await service.api.get('/v1/batches/batch_x')).status).toBe(404);
    expect((await other.api.get<{ data: [] }>('/v1/batches')).body.data).toEqual([]);
    expect((await batches.cancel(id)).status).toBe(200);
  });

  it('is listed, newest first, by pages and by status', async () => {
    const made: string[] = [];
    for (let nth = 0; nth < 3; nth += 1) made.unshift((await batches.of([aFailure])).id);
    for (const id of made) await batches.untilEnded(id);
    const page = (query: string) =>
      service.api.get<{ data: BatchBody[]; has_more: boolean; last_id: string }>(`/v1/batches${query}`);
    const first = await page('?limit=2');
    expect(first.body.data.map(({ id }) => id)).toEqual(made.slice(0, 2));
    expect(first.body.has_more).toBe(true);
    const next = await page(`?limit=1&after=${first.body.last_id}&status=completed`);
    expect(next.body.data.map(({ id }) => id)).toEqual(made.slice(2));
    expect(next.body.data[0]).toEqual(await batches.read(made[2]!));
    expect((await page('?status=cancelling')).body.data).toEqual([]);
    for (const [query, param] of [
      ['?limit=0', 'limit'],
      ['?after=x', 'after'],
      ['?status=done', 'status'],
      ['?colour=red', 'colour'],
    ]) {
      const { status, body } = await service.api.get<ErrorBody>(`/v1/batches${query}`);
      expect({ status, param: body.error.param }).toEqual({ status: 400, param });
    }
    expect((await service.api.get<{ data: [] }>('/v1/tasks?batch_id=batch_unknown')).body.data).toEqual([]);
  });

  it('keeps its counts when items are deleted and purged before it ends', async () => {
    const { id } = await batches.of([aFailure, aFailure, aHang]);
    const before = await batches.until(id, 'two items to fail', ({ counts }) => counts.failed === 2);
    const [deleted] = await batches.tasks(id);
    expect((await service.api.call('DELETE', `/v1/tasks/${deleted!.task_id}`)).status).toBe(200);
    expect((await batches.read(id)).progress).toBe(before.progress);
    await database.query(`update tasks_done set purge_after = now() - interval '1 s' where id = $1`, [
      deleted!.task_id,
    ]);
    await eventually('the purge', async () => {
      const { rowCount } = await database.query('select 1 from tasks where id = $1', [deleted!.task_id]);
      expect((await batches.read(id)).counts.failed).toBe(2);
      return rowCount === 0;
    });
    expect((await batches.results(id)).map(({ index }) => index)).toEqual([1]);
    await batches.cancel(id);
    expect(await batches.untilEnded(id)).toMatchObject({ counts: { failed: 2, cancelled: 1 }, usage: { images: 0 } });
  });

  it('lets its own key and others go first: a single task does not wait for the whole batch', async () => {
    const key = new Api(service.baseUrl, (await anotherKey(service.api, { limits: { max_running: 2 } })).key);
    const { id } = await new BatchClient(key).of(Array.from({ length: 100 }, () => aSlowFailure));
    for (const api of [other.api, key]) {
      const { body } = await api.create(aFailure, { prefer: 'wait=30' });
      expect(body.status).toBe('failed');
    }
    const { counts } = (await key.get<BatchBody>(`/v1/batches/${id}`)).body;
    expect(counts.queued).toBeGreaterThan(0);
    await new BatchClient(key).cancel(id);
  });

  it('is of low priority, unless it or an item says otherwise', async () => {
    const priorities = async (more: object) => {
      const { id } = await batches.of([aHang, { ...aHang, priority: 'normal' }, { ...aHang, priority: 'low' }], more);
      const tasks = await batches.tasks(id);
      await batches.cancel(id);
      return tasks.map(({ priority }) => priority);
    };
    expect(await priorities({})).toEqual(['low', 'normal', 'low']);
    expect(await priorities({ priority: 'normal' })).toEqual(['normal', 'normal', 'low']);
    const { rows } = await database.query('select api_key_id from key_load where low <> (select count(*) from tasks t where t.api_key_id = key_load.api_key_id and t.low and t.status in ($1, $2))', ['queued', 'running']); // prettier-ignore
    expect(rows).toEqual([]);
  });

  it('may wait for a day whatever its priority; then its items fail', async () => {
    const { key } = await anotherKey(service.api, { limits: { max_running: 1 } });
    const slow = new BatchClient(new Api(service.baseUrl, key));
    const { id } = await slow.of([aHang, aHang], { priority: 'normal' });
    const { rows } = await database.query<{ id: string; waits_s: number; run_deadline_s: number }>(
      `select id, round(extract(epoch from deadline_at - created_at))::int as waits_s, run_deadline_s
       from tasks where batch_id = $1 and status = 'queued' order by batch_index desc`,
      [id],
    );
    const [waiting] = rows;
    expect(waiting).toMatchObject({ waits_s: 86_400, run_deadline_s: 600 });
    await database.query('update tasks_live set deadline_at = now() where id = $1', [waiting!.id]);
    await slow.until(id, 'the item to fail', ({ counts }) => counts.failed === 1);
    expect((await slow.results(id))[0]?.error?.code).toBe('task_deadline_exceeded');
    await slow.cancel(id);
  });

  it('reads its items from a file of JSON lines, and names the lines at fault', async () => {
    const files = new FilesClient(service.api);
    const upload = async (text: string) =>
      (await files.upload(text, { purpose: 'batch' }, { name: 'b.jsonl', type: 'application/jsonl' })).body.id;
    const good = await upload([line('a', aFailure), '', line('b', aFailure), ''].join('\r\n'));
    const { status, body } = await batches.create({ input_file_id: good });
    expect({ status, file: body.input_file_id, total: body.request_counts.total }).toEqual({
      status: 201,
      file: good,
      total: 2,
    });
    await batches.untilEnded(body.id);
    expect((await batches.results(body.id)).map(({ custom_id }) => custom_id)).toEqual(['a', 'b']);

    const bad = await upload(
      [
        line('a', aFailure, { method: 'GET' }),
        '',
        line('b', aFailure, { url: '/v1/videos' }),
        line('c', { prompt: 'x' }),
        JSON.stringify({ method: 'POST', url: '/v1/generations', body: aFailure }),
        '{"custom_id":"d","custom_id":"e"}',
      ].join('\n'),
    );
    const error = await refused({ input_file_id: bad });
    expect(error.errors?.map((fault) => [fault.index, fault.line, fault.custom_id, fault.code, fault.param])).toEqual([
      [0, 1, 'a', 'invalid_value', 'method'],
      [1, 3, 'b', 'invalid_value', 'url'],
      [2, 4, 'c', 'missing_required_parameter', 'model'],
      [3, 5, null, 'missing_required_parameter', 'custom_id'],
      [4, 6, null, 'duplicate_key', null],
    ]);
    const picture = (await files.upload(await aPicture())).body.id;
    expect(await refused({ input_file_id: picture })).toMatchObject({ code: 'invalid_file', param: 'input_file_id' });
    const many = await upload(Array.from({ length: 301 }, (_, nth) => line(String(nth), aFailure)).join('\n'));
    expect(await refused({ input_file_id: many })).toMatchObject({ code: 'too_many_items', param: 'input_file_id' });
    const foreign = await other.create<BatchErrorBody>({ input_file_id: good });
    expect(foreign.body.error).toMatchObject({ code: 'file_not_found', param: 'input_file_id' });
  });

  it('takes pictures inside its items, and stores none when it is refused', async () => {
    const picture = `data:image/png;base64,${(await aPicture()).toString('base64')}`;
    const item = { body: { ...aFailure, reference_images: [picture] } };
    const uploads = async () =>
      (await database.query('select 1 from uploads where of_task and deleted_at is null')).rowCount;
    const before = await uploads();
    expect((await refused({ requests: [item, { body: {} }] })).errors).toHaveLength(1);
    expect(await uploads()).toBe(before);
    const { status, body } = await batches.create({ requests: [item, item] });
    expect(status).toBe(201);
    const [first] = await batches.tasks(body.id);
    expect((first!.input as { reference_images: string[] }).reference_images[0]).toMatch(/^file_/);
    expect(await uploads()).toBe(before! + 2);
    await batches.untilEnded(body.id);
  });
});

describe('the events of a batch', () => {
  const follow = (id: string, lastEventId?: string, { key } = service.api) =>
    EventReader.open(service.baseUrl, `/v1/batches/${id}/events`, key!, lastEventId ? { lastEventId } : {});
  const states = (reader: EventReader) => reader.events.map(({ data }) => data as unknown as BatchBody);

  it('begin with the current state, never fall, and end with the final one', async () => {
    // It waits until it is followed, and its items, of which one runs at a time, last for two seconds.
    const api = new Api(service.baseUrl, (await anotherKey(service.api, { limits: { max_running: 1 } })).key);
    const own = new BatchClient(api);
    const { body: first } = await api.create(aHang);
    await api.until(first.task_id, 'running');
    const slow = { ...aFailure, prompt: '#delay:0.1 #fail:internal_error' };
    const { id } = await own.of(Array.from({ length: 20 }, () => slow));
    const reader = await follow(id, undefined, api);
    expect(reader.reply.headers.get('content-type')).toContain('text/event-stream');
    await reader.until('its first state', (events) => events.length > 0);
    await api.cancel(first.task_id);
    await reader.ended;
    const all = states(reader);
    expect(all[0]).toMatchObject({ id, object: 'batch', status: 'in_progress' });
    expect(all.at(-1)).toEqual(await own.read(id));
    expect(all.at(-1)).toMatchObject({ status: 'completed', progress: 100 });
    expect(all.map(({ progress }) => progress)).toEqual(all.map(({ progress }) => progress).toSorted((a, b) => a - b));
    expect(all.map(finalItems)).toEqual(all.map(finalItems).toSorted((a, b) => a - b));
    expect(all.length).toBeGreaterThan(2);
    expect((await follow(id, reader.lastEventId, api)).reply.status).toBe(204);
    const again = await follow(id, undefined, api);
    await again.ended;
    expect(states(again)).toEqual([all.at(-1)]);
  });

  it('resume without the state that was received, and end when the batch is cancelled', async () => {
    const { id } = await batches.of([aHang, aHang]);
    const first = await follow(id);
    await first.until('both items to run', () => states(first).at(-1)?.counts.running === 2);
    first.close();
    const second = await follow(id, first.lastEventId);
    await second.until('the opening comment', () => second.comments.length > 0);
    await batches.cancel(id);
    await second.ended;
    expect(states(second).every(({ status }) => status !== 'in_progress')).toBe(true);
    expect(states(second).at(-1)).toMatchObject({ status: 'cancelled', counts: { cancelled: 2 } });
  });

  it('are the same over GraphQL, which creates, reads, lists and cancels batches too', async () => {
    const graphql = new GraphqlClient(service.baseUrl, service.api.key);
    const CREATE = `mutation ($input: CreateBatchInput!, $key: String) {
      createBatch(input: $input, idempotencyKey: $key) { id status counts { queued invalid } errors { data { index code } } metadata }
    }`;
    const input = {
      requests: [
        { customId: 'x', body: { ...aHang, aspect_ratio: '16:9' } },
        { customId: null, body: {} },
      ],
      onInvalid: 'SKIP',
      taskEvents: false,
      metadata: { camelCase: 'kept' },
    };
    const { data, errors } = await graphql.ask<{ createBatch: BatchBody }>(CREATE, { input, key: 'gql' });
    expect(errors).toBeUndefined();
    const { id } = data.createBatch;
    expect(data.createBatch).toEqual({
      id,
      status: 'IN_PROGRESS',
      counts: { queued: 1, invalid: 1 },
      errors: { data: [{ index: 1, code: 'missing_required_parameter' }] },
      metadata: { camelCase: 'kept' },
    });
    const asRest = {
      requests: [{ custom_id: 'x', body: input.requests[0]!.body }, { body: {} }],
      on_invalid: 'skip',
      task_events: false,
      metadata: input.metadata,
    };
    const replay = await batches.create(asRest, { 'idempotency-key': 'gql' });
    expect([replay.body.id, replay.headers.get('idempotent-replayed')]).toEqual([id, 'true']);

    const refused = await graphql.ask(CREATE, { input: { ...input, onInvalid: 'REFUSE' } });
    expect(refused.errors?.[0]?.extensions).toMatchObject({
      code: 'batch_invalid',
      errors: [{ index: 1, code: 'missing_required_parameter', line: null, custom_id: null }],
    });

    const following = graphql.follow<{ batchUpdated: BatchBody }>(
      'subscription ($id: String!) { batchUpdated(id: $id) { id status progress counts { running cancelled } } }',
      { id },
    );
    await eventually('the item to run', async () => following.data.at(-1)?.batchUpdated.counts.running === 1);
    const TASKS = 'query ($id: String) { tasks(filter: { batchId: $id }) { edges { node { batch { id index customId } } } } }'; // prettier-ignore
    expect((await graphql.ask<object>(TASKS, { id })).data).toEqual({
      tasks: { edges: [{ node: { batch: { id, index: 0, customId: 'x' } } }] },
    });
    const cancelled = await graphql.ask<{ cancelBatch: BatchBody }>(
      'mutation ($id: String!) { cancelBatch(id: $id) { id } }',
      { id },
    );
    expect(cancelled.data.cancelBatch.id).toBe(id);
    await following.ended;
    expect(following.data.at(-1)?.batchUpdated).toEqual({
      id,
      status: 'CANCELLED',
      progress: 100,
      counts: { running: 0, cancelled: 1 },
    });
    const READ = `query ($id: String!) {
      batch(id: $id) { id usage { costMicros currency } }
      batches(first: 1, status: CANCELLED) { edges { cursor node { id } } pageInfo { hasNextPage } }
    }`;
    const read = await graphql.ask<object>(READ, { id });
    expect(read.data).toMatchObject({
      batch: { id, usage: { costMicros: 0, currency: 'USD' } },
      batches: { edges: [{ cursor: id, node: { id } }] },
    });
    const unknown = await graphql.ask('{ batch(id: "batch_x") { id } }');
    expect(unknown.errors?.[0]?.extensions.code).toBe('batch_not_found');
    await graphql.close();
  });

  describe('as webhooks', () => {
    let receiver: Receiver;
    let hooks: WebhookClient;
    beforeAll(async () => {
      receiver = await Receiver.start();
      hooks = new WebhookClient(service.api);
    });
    afterAll(() => receiver.stop());

    const typesOf = (path: string) =>
      receiver.received.filter((received) => received.path === path).map(({ event }) => event.type);

    it('say once that it is completed, to endpoints that name the event, and nothing of its items if so asked', async () => {
      const all = await hooks.endpoint(`${receiver.url}/all`);
      expect(all.events).toEqual(['task.completed', 'task.failed']);
      const named = await hooks.endpoint(`${receiver.url}/named`, { events: ['batch.completed', 'task.failed'] });
      const quiet = await batches.of([aFailure, aCat], { task_events: false, metadata: { a: 'b' } });
      const loud = await batches.of([aFailure, aFailure]);
      for (const { id } of [quiet, loud]) await batches.untilEnded(id);
      await eventually(
        'the webhooks',
        async () => typesOf('/hook/named').length >= 4 && typesOf('/hook/all').length >= 2,
      );
      await service.api.create(aFailure, { prefer: 'wait=30' });
      await eventually('the last webhook', async () => typesOf('/hook/all').length >= 3);
      expect(typesOf('/hook/all')).toEqual(Array.from({ length: 3 }, () => 'task.failed'));
      expect(typesOf('/hook/named').filter((type) => type === 'batch.completed')).toHaveLength(2);
      const webhook = receiver.received.find(({ event }) => event.data.id === quiet.id)!;
      expect(webhook.event).toMatchObject({ object: 'event', type: 'batch.completed' });
      expect(webhook.event.data).toEqual(await batches.read(quiet.id));
      expect(verified(webhook, named.secret).id).toBe(webhook.headers['webhook-id']);
      const before = receiver.received.length;
      expect((await hooks.redeliver(webhook.event.id)).body.endpoints).toBe(1);
      await receiver.until(before + 1);
      expect(receiver.received.at(-1)?.event.id).toBe(webhook.event.id);
    });

    it('say that it was cancelled, by the status', async () => {
      const { id } = await batches.of([aHang]);
      await batches.cancel(id);
      const { event } = await eventually('the webhook', async () =>
        receiver.received.find(({ event }) => event.data.id === id),
      );
      expect(event.data).toMatchObject({ object: 'batch', status: 'cancelled' });
    });
  });
});
