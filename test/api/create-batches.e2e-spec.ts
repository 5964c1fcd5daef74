// In process: it gives the service rows that no request can make, such as one that cannot be stored beside others.
import { Client } from 'pg';
import { CreateTasks } from '../../src/tasks/sql/create-tasks.ts';
import type { NewTask } from '../../src/tasks/sql/new-task.ts';
import { newTaskId } from '../../src/tasks/record/task-id.ts';
import { type ErrorBody, type TaskBody, aHang } from '../support/clients/api.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { eventually } from '../support/wait.ts';

const WITH_KEY = (key: string) => ({ 'idempotency-key': key });

const newTaskOf = (apiKeyId: string, change: Partial<NewTask> = {}): NewTask => ({
  id: newTaskId(),
  api_key_id: apiKeyId,
  kind: 'image',
  model: 'gpt-image-2',
  input: { prompt: '#hang' },
  metadata: {},
  created_at: Date.now(),
  expires_at: Date.now() + 3_600_000,
  deadline_s: 600,
  limits: { maxQueued: 0, maxRunning: 0, weight: 10 },
  ...change,
});

describe('creations that share a statement', () => {
  let service: InProcess;
  let other: Client;
  /** A separate connection, because pg_stat_activity does not change within a transaction. */
  let observer: Client;
  beforeAll(async () => {
    service = await startInProcess({ ROLE: 'api', MAX_QUEUED_PER_KEY: '0' });
    other = new Client({ connectionString: service.database.url });
    observer = new Client({ connectionString: service.database.url });
    await Promise.all([other.connect(), observer.connect()]);
    await service.api.create(aHang); // creates the key_load row of the key
  });
  afterAll(async () => {
    await Promise.all([other.end(), observer.end()]);
    await service.close();
  });

  const idsMade = async () => {
    const { rows } = await other.query<{ id: string }>('select id from tasks order by id');
    return rows.map(({ id }) => id);
  };
  const loads = async () => (await other.query('select queued, running from key_load where queued > 0')).rows;
  /** Creates wait for this row, so that later ones gather into one batch. */
  const lockKeyLoad = async () => {
    await other.query('begin');
    await other.query('select * from key_load for update');
  };
  const waitingForKeyLoad = async () => {
    const { rows } = await observer.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%key_load%'`,
    );
    return rows.map(({ pid }) => pid);
  };

  it('each return their own task, and the counters of the key are exact', async () => {
    const before = (await idsMade()).length;
    await lockKeyLoad();
    const prompts = Array.from({ length: 40 }, (_, nth) => `#hang number ${nth}`);
    const answers = prompts.map((prompt) => service.api.create({ ...aHang, prompt }));
    await eventually('a batch to wait', async () => (await waitingForKeyLoad()).length > 0);
    await other.query('commit');
    const tasks = await Promise.all(answers);
    expect(tasks.map(({ body }) => (body.input as { prompt: string }).prompt)).toEqual(prompts);
    expect(new Set(tasks.map(({ body }) => body.task_id)).size).toBe(40);
    const stored = await idsMade();
    expect(stored).toHaveLength(before + 40);
    expect(await loads()).toEqual([{ queued: stored.length, running: 0 }]);
  });

  it('make one task for equal requests in one batch, and refuse another body with the same key', async () => {
    const before = (await idsMade()).length;
    await lockKeyLoad();
    const first = service.api.create(aHang); // runs alone while the others gather into a batch
    await eventually('a batch to wait', async () => (await waitingForKeyLoad()).length > 0);
    const twins = Array.from({ length: 10 }, () => service.api.create(aHang, WITH_KEY('twin')));
    const otherBody = service.api.create<ErrorBody>({ ...aHang, n: 2 }, WITH_KEY('twin'));
    await other.query('commit');
    const answers = await Promise.all(twins);
    const refused = await otherBody;
    expect((await first).status).toBe(201);
    const won = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => text));
    // The request that came first owns the key: one of the ten, or the one with the other body.
    if (refused.status === 201) expect(answers.every(({ status }) => status === 422)).toBe(true);
    else {
      expect([refused.status, refused.body.error.code]).toEqual([422, 'idempotency_key_reused']);
      expect(won.size).toBe(1);
    }
    expect(await idsMade()).toHaveLength(before + 2);
  });

  it('store what is new beside keys that were used before', async () => {
    const used = await service.api.create(aHang, WITH_KEY('used'));
    const before = (await idsMade()).length;
    await lockKeyLoad();
    const first = service.api.create(aHang, WITH_KEY('alone')); // runs alone while the others gather into a batch
    await eventually('a batch to wait', async () => (await waitingForKeyLoad()).length > 0);
    const keys = ['new 1', 'used', 'new 2', 'used', 'new 3'];
    const answers = keys.map((key) => service.api.create(aHang, WITH_KEY(key)));
    await other.query('commit');
    const replayed = (await Promise.all(answers)).map(({ status, text, headers }) => [
      status,
      text === used.text,
      headers.get('idempotent-replayed'),
    ]);
    const [made, known] = [
      [201, false, null],
      [201, true, 'true'],
    ];
    expect((await first).status).toBe(201);
    expect(replayed).toEqual([made, known, made, known, made]);
    const stored = await idsMade();
    expect(stored).toHaveLength(before + 4);
    expect(await loads()).toEqual([{ queued: stored.length, running: 0 }]);
  });

  it.each(['"', '\\', '\\"', ',', '{}', 'NULL', 'a\nb', 'a\t"b"\\n', 'é 😀 \u007f', '\\u0041'])(
    'store %j as it is, with and without a key',
    async (text) => {
      const asked = { ...aHang, prompt: `#hang ${text}`, metadata: { 'a "key" \\ {}': text, NULL: text } };
      const key = WITH_KEY(`a key, {with} "all" \\ ${text.replaceAll(/[^ -~]/g, '')}`);
      const answers = await Promise.all([service.api.create(asked), service.api.create(asked, key)]);
      for (const { body } of answers) {
        const { body: stored } = await service.api.get<TaskBody>(`/v1/tasks/${body.task_id}`);
        expect([stored.input, stored.metadata]).toEqual([body.input, body.metadata]);
        expect([(stored.input as { prompt: string }).prompt, stored.metadata]).toEqual([asked.prompt, asked.metadata]);
      }
      expect((await service.api.create(asked, key)).text).toBe(answers[1].text);
    },
  );

  it('all get 503 and store nothing when their commit fails, and succeed when repeated', async () => {
    const before = await idsMade();
    await lockKeyLoad();
    const keys = Array.from({ length: 20 }, (_, nth) => `failing ${nth}`);
    const waiting = new Set(keys);
    const answers = keys.map((key) =>
      service.api.create<TaskBody & ErrorBody>(aHang, WITH_KEY(key)).finally(() => waiting.delete(key)),
    );
    while (waiting.size > 0) {
      for (const pid of await waitingForKeyLoad()) await observer.query('select pg_terminate_backend($1)', [pid]);
      await eventually(
        'the next batch, or the end',
        async () => waiting.size === 0 || (await waitingForKeyLoad()).length > 0,
      );
    }
    await other.query('commit');
    for (const { status, headers, body } of await Promise.all(answers)) {
      expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await idsMade()).toEqual(before);
    const again = await Promise.all(keys.map((key) => service.api.create(aHang, WITH_KEY(key))));
    expect(again.map(({ status }) => status)).toEqual(Array(20).fill(201));
    expect(await idsMade()).toHaveLength(before.length + 20);
  });

  it('succeed although another task of the batch cannot be stored', async () => {
    const before = (await idsMade()).length;
    const [{ api_key_id: apiKeyId }] = (await other.query('select api_key_id from key_load')).rows as [
      { api_key_id: string },
    ];
    const creates = service.app.get(CreateTasks);
    const aTask = (change: Partial<NewTask> = {}) => newTaskOf(apiKeyId, change);
    const rows = [
      aTask(),
      aTask({ metadata: { nul: '\u0000' } }),
      aTask({ model: null as unknown as string }),
      aTask(),
    ];
    const outcomes = await Promise.allSettled(rows.map((row) => creates.create(row)));
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    const stored = await idsMade();
    expect(stored).toHaveLength(before + 2);
    expect(stored).toEqual(expect.arrayContaining([rows[0]!.id, rows[3]!.id]));
    expect(await loads()).toEqual([{ queued: stored.length, running: 0 }]);
  });

  it('belong each to its own API key, and are counted there', async () => {
    const creates = service.app.get(CreateTasks);
    const owners = ['key_one', 'key_two', 'key_one', 'key_three', 'key_two', 'key_one'];
    // The third task of the first key is over its limit.
    const limitsOf = (owner: string) => ({ maxQueued: owner === 'key_one' ? 2 : 0, maxRunning: 0, weight: 10 });
    const rows = owners.map((owner) => newTaskOf(owner, { limits: limitsOf(owner) }));
    const outcomes = await Promise.allSettled(rows.map((row) => creates.create(row)));
    expect(outcomes.map(({ status }) => status)).toEqual([...Array(5).fill('fulfilled'), 'rejected']);
    const made = await other.query<{ id: string; api_key_id: string; priority: number }>(
      'select id, api_key_id, priority from tasks where id = any($1)',
      [rows.map(({ id }) => id)],
    );
    const found = new Map(made.rows.map(({ id, ...rest }) => [id, rest]));
    expect(rows.map(({ id }) => found.get(id))).toEqual([
      { api_key_id: 'key_one', priority: 1 },
      { api_key_id: 'key_two', priority: 1 },
      { api_key_id: 'key_one', priority: 2 },
      { api_key_id: 'key_three', priority: 1 },
      { api_key_id: 'key_two', priority: 2 },
      undefined,
    ]);
    const counters = await other.query(
      `select api_key_id, queued from key_load where api_key_id = any($1) order by api_key_id`,
      [owners],
    );
    expect(counters.rows).toEqual([
      { api_key_id: 'key_one', queued: 2 },
      { api_key_id: 'key_three', queued: 1 },
      { api_key_id: 'key_two', queued: 2 },
    ]);
  });
});
