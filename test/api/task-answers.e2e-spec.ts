// In process: an answer is compared with the view that the same process makes.
import { Client } from 'pg';
import { TaskViews } from '../../src/tasks/read/task-views.ts';
import { SHOWN, type Task } from '../../src/tasks/record/task.entity.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';

const hour = (hours: number) => new Date(Date.UTC(2026, 0, 1) + hours * 3_600_000);
const fromNow = (hours: number) => new Date(Math.floor(Date.now() / 1000) * 1000 + hours * 3_600_000 + 123);

const output = (id: string, more: object = {}) => ({
  id: `file_${id.slice(5)}_0`,
  index: 0,
  type: 'image',
  storage_key: `${id}/1-0.png`,
  content_type: 'image/png',
  size_bytes: 5_000_000_000,
  width: 1024,
  height: 1024,
  sha256: 'ab'.repeat(32),
  ...more,
});
const usage = {
  provider: 'sandbox',
  input_tokens: 5,
  output_tokens: 7,
  cost_micros: 40_000,
  currency: 'USD',
  basis: 'priced',
};
const ended = { progress: 100, started_at: hour(1), completed_at: hour(2) };
const succeeded = (id: string, more: object = {}) => ({
  ...ended,
  status: 'succeeded',
  result: [output(id, more)],
  files_expire_at: fromNow(1),
});
const near = [
  { param: 'size', requested: '1000x1000', used: '1024x1024' },
  { param: 'duration', requested: 5, used: 6 },
];

/** Each kind of task that an answer can show, beyond the columns that all have. */
const KINDS: Record<string, (id: string) => object> = {
  queued: () => ({}),
  'queued, of low priority': () => ({ low: true }),
  running: () => ({ status: 'running', progress: 40, started_at: hour(1), approximations: near }),
  failed: () => ({
    ...ended,
    status: 'failed',
    error: { code: 'invalid_input', message: 'No "such" image: ✗', retryable: false, param: 'reference_images[0]' },
  }),
  'failed in the line': () => ({
    status: 'failed',
    completed_at: hour(2),
    error: { code: 'task_cancelled', message: 'Cancelled.', retryable: false },
    usage: { ...usage, provider: null, input_tokens: null, output_tokens: null, cost_micros: 0, basis: 'free' },
  }),
  succeeded: (id) => ({ ...succeeded(id), usage, submits: 1 }),
  'succeeded before usage was recorded': (id) => succeeded(id),
  'with two approximations': (id) => ({
    ...succeeded(id),
    request_approximations: [{ param: 'size', requested: '1001x1001', used: '1000x1000' }],
    approximations: near,
  }),
  'with no approximation left': (id) => ({ ...succeeded(id), approximations: [] }),
  'a video': (id) => ({
    ...succeeded(id, { type: 'video', content_type: 'video/mp4', duration: 4.5, thumbnail_key: `${id}/1-0.webp` }),
    kind: 'video',
    model: 'sora-2',
  }),
  'whose file was deleted': (id) => succeeded(id, { deleted: true }),
  'whose files expired': (id) => ({ ...succeeded(id), files_expire_at: fromNow(-1) }),
  purged: (id) => ({ ...succeeded(id), files_expire_at: fromNow(-1), files_purged: true }),
  'an item of a batch': () => ({ source: 'batch', batch_id: 'batch_1', batch_index: 0, custom_id: 'a "b"' }),
  'an item without a name': () => ({ source: 'batch', batch_id: 'batch_1', batch_index: 1 }),
  'made from another': () => ({ parent_task_id: 'task_00000000000000000000000000', relation: 'variation' }),
  'with any text': () => ({
    input: {
      prompt: '灯塔 🗼 "\\\u2028\u0007</script>\n',
      n: 1,
      seed: 1e21,
      2: 'b',
      1: 'a',
      empty: null,
      list: [1, {}],
    },
    metadata: { ключ: '💡', constructor: 'yes', '': '' },
  }),
};

/** Another value of each column that an answer shows or depends on; the id and its owner never change. */
const CHANGES: Record<Exclude<(typeof SHOWN)[number], 'id' | 'api_key_id'>, unknown> = {
  kind: 'video',
  model: 'sora-2',
  status: 'failed',
  progress: 99,
  sequence: 77,
  attempt: 9,
  input: { prompt: 'Another' },
  metadata: { another: 'one' },
  created_at: hour(5),
  started_at: hour(6),
  completed_at: hour(7),
  expires_at: fromNow(50),
  source: 'openai',
  low: true,
  parent_task_id: 'task_00000000000000000000000001',
  relation: 'retry',
  batch_id: 'batch_2',
  batch_index: 7,
  custom_id: 'another',
  task_events: false,
  request_id: 'another',
  approximations: [{ param: 'duration', requested: 1, used: 2 }],
  request_approximations: [{ param: 'size', requested: 'a', used: 'b' }],
  result: [output('task_another', { width: 5 })],
  error: { code: 'internal', message: 'Another.', retryable: true },
  files_expire_at: fromNow(0.5),
  submits: 8,
  usage: { ...usage, cost_micros: 1 },
};

describe('answers about a task', () => {
  let service: InProcess;
  let other: InProcess;
  let db: Client;
  const ids: string[] = [];

  beforeAll(async () => {
    service = await startInProcess({ ROLE: 'api' });
    const { DATA_DIR, BOOTSTRAP_API_KEY } = service.env as Record<string, string>;
    other = await startInProcess({ ROLE: 'api', DATA_DIR, BOOTSTRAP_API_KEY }, service.database);
    db = new Client(service.database.url);
    await db.connect();
    const { rows } = await db.query<{ id: string }>('select id from api_keys');
    for (const more of Object.values(KINDS)) {
      const id = `task_01jd8e5t9kf3qs7m2v4xw6yz${String(ids.length).padStart(2, '0')}`;
      ids.push(id);
      await insert({
        id,
        api_key_id: rows[0]!.id,
        kind: 'image',
        model: 'gpt-image-2',
        status: 'queued',
        sequence: 3,
        input: { prompt: 'A lighthouse', resolution: '1K', quality: 'high' },
        created_at: new Date(hour(0).getTime() + 999),
        deadline_at: fromNow(1),
        expires_at: fromNow(100),
        ...more(id),
      });
    }
  });
  afterAll(async () => {
    await db?.end();
    await other?.close();
    await service?.close();
  });

  const insert = (task: object) => {
    const values = Object.values(task).map((value) =>
      value !== null && typeof value === 'object' && !(value instanceof Date)
        ? JSON.stringify(value)
        : (value as unknown),
    );
    const text = `insert into tasks (${Object.keys(task)}) values (${values.map((_, at) => `$${at + 1}`)})`;
    return db.query(text, values);
  };

  /** The view of the row as pg reads it by itself. */
  async function viewOf(id: string, { app }: InProcess): Promise<string> {
    const { rows } = await db.query<Task>('select * from tasks where id = $1', [id]);
    return JSON.stringify(app.get(TaskViews).of(rows[0]!));
  }

  it.each(Object.keys(KINDS).map((kind, at) => [kind, at] as const))(
    'GET of a task %s is its view',
    async (_kind, at) => {
      const view = await viewOf(ids[at]!, service);
      for (let read = 0; read < 3; read += 1) {
        expect((await service.api.get(`/v1/tasks/${ids[at]}`)).text).toBe(view); // from the database, then perhaps from memory
      }
    },
  );

  it.each(['', '&order=asc', '&kind=image', '&source=batch', '&status=running'])(
    'a list%s has the views of its tasks',
    async (query) => {
      for (const side of [other, service, other]) {
        const { text, headers, body } = await side.api.get<{ data: { task_id: string }[] }>(
          `/v1/tasks?limit=100${query}`,
        );
        expect(body.data.length).toBeGreaterThan(0);
        const views = await Promise.all(body.data.map(({ task_id }) => viewOf(task_id, side)));
        const [first, last] = [body.data[0]!.task_id, body.data.at(-1)!.task_id];
        expect(text).toBe(
          `{"object":"list","data":[${views}],"has_more":false,"first_id":"${first}","last_id":"${last}"}`,
        );
        expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
        expect(headers.get('cache-control')).toBe('no-store');
      }
    },
  );

  it('a list shows a change of any column at once, in each process, whatever it had in memory', async () => {
    expect(Object.keys(CHANGES).toSorted()).toEqual(
      SHOWN.filter((column) => column !== 'id' && column !== 'api_key_id').toSorted(),
    );
    const listsAreTrue = async () => {
      for (const side of [service, other]) {
        const views = await Promise.all(ids.toReversed().map((id) => viewOf(id, side)));
        for (const order of ['asc', 'desc']) {
          const { text } = await side.api.get(`/v1/tasks?limit=100&order=${order}`);
          expect(text).toContain(`"data":[${order === 'asc' ? views.toReversed() : views}]`);
        }
      }
    };
    await listsAreTrue();
    const changed = ids.slice(0, 8); // a task of each status
    for (const [column, value] of Object.entries(CHANGES)) {
      const set =
        value !== null && typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value;
      const before = await db.query<Task>(`select * from tasks where id = any($1) order by id`, [changed]);
      await db.query(`update tasks set ${column} = $2 where id = any($1)`, [changed, set]);
      await listsAreTrue();
      for (const row of before.rows) {
        const old = row[column as keyof Task];
        const back = old !== null && typeof old === 'object' && !(old instanceof Date) ? JSON.stringify(old) : old;
        await db.query(`update tasks set ${column} = $2 where id = $1`, [row.id, back]);
      }
      await listsAreTrue();
    }
  });

  it('a page shows the last of several changes of one transaction, and of one that was undone nothing', async () => {
    const progress = async () => {
      const { body } = await service.api.get<{ data: { progress: number }[] }>('/v1/tasks?status=running&limit=1');
      return body.data[0]!.progress;
    };
    const set = (to: number) => db.query('update tasks set progress = $2 where id = $1', [ids[2], to]);
    await set(50);
    expect(await progress()).toBe(50);
    for (const end of ['rollback', 'commit']) {
      await db.query('begin');
      await set(51);
      expect(await progress()).toBe(50);
      await db.query('savepoint later');
      await set(52);
      expect(await progress()).toBe(50);
      await db.query(end);
    }
    expect(await progress()).toBe(52);
  });

  it('lists of one moment are the same text, and the next one shows what has changed', async () => {
    const list = async () => (await service.api.get('/v1/tasks?limit=100')).text;
    for (let progress = 41; progress < 46; progress += 1) {
      await db.query('update tasks set progress = $2, sequence = sequence + 1 where id = $1', [ids[2], progress]);
      const texts = new Set(await Promise.all(Array.from({ length: 20 }, list)));
      expect(texts.size).toBe(1);
      expect([...texts][0]).toContain(`"progress":${progress}`);
    }
  });
});
