// In process: answers are compared with the view that the process makes, and tests act between its statements, give it rows
// that no request can make, and say when it builds indexes.
import { Client } from 'pg';
import { TaskViews } from '../../src/tasks/read/task-views.ts';
import { SHOWN, type Task } from '../../src/tasks/record/task.entity.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { jest } from '@jest/globals';
import { ReadTasks } from '../../src/tasks/sql/read-tasks.ts';
import { aFailure, aHang, Api, type TaskBody, type ErrorBody } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { CreateTasks } from '../../src/tasks/sql/create-tasks.ts';
import { type NewTask } from '../../src/tasks/sql/new-task.ts';
import { newTaskId } from '../../src/tasks/record/task-id.ts';
import { eventually } from '../support/wait.ts';
import { DataSource } from 'typeorm';
import { idBoundAt } from '../../src/platform/schema/time.ts';
import { DAY_MS } from '../../src/platform/schema/time.ts';
import { IndexWords } from '../../src/tasks/sql/index-words.ts';
import { buildWordIndex, dueIndexes } from '../../src/tasks/sql/build-word-indexes.ts';
import { fewWithWords, restOfMatches } from '../../src/tasks/sql/match-tasks.ts';
import { readWordIndexes, usable, WordIndexes } from '../../src/tasks/sql/word-indexes.ts';
import { type Stretch, stretchIndexOf } from '../../src/tasks/sql/word-stretches.ts';

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
  model_version: '0123456789ab',
};

let service: InProcess;
beforeAll(async () => {
  service = await startInProcess({ ROLE: 'api', MAX_QUEUED_PER_KEY: '0' }); // it builds indexes when the test says so
});
afterAll(() => service?.close());

describe('answers about a task', () => {
  let other: InProcess;
  let db: Client;
  const ids: string[] = [];

  beforeAll(async () => {
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
    }
    await listsAreTrue();
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

interface Page {
  data: TaskBody[];
  has_more: boolean;
  last_id: string | null;
}

/** Of one batch: words that the text of an array must keep. */
const PROMPTS = [
  'a "quoted" harbour',
  'c:\\temp\\x, {braces}',
  'plain, comma',
  'NULL',
  "it's 50%_off \u0007 海洋",
  'plain "quoted"',
];

describe('pages of tasks', () => {
  let database: Client;
  beforeAll(async () => {
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
  });
  afterEach(() => jest.restoreAllMocks());

  const pageOf = async (api: Api, query: string) => (await api.get<Page>(`/v1/tasks?${query}`)).body;
  const idsOf = ({ data }: Page) => data.map(({ task_id }) => task_id);
  /** Acts between the statement of a page and the one that reads its tasks. */
  function insteadOfReads(
    act: (wanted: string[], real: ReadTasks['findVersions']) => ReturnType<ReadTasks['findVersions']>,
  ) {
    const reads = service.app.get(ReadTasks);
    const real = reads.findVersions.bind(reads);
    jest.spyOn(reads, 'findVersions').mockImplementation((wanted) => act(wanted, real));
  }
  const tenant = async () => new Api(service.baseUrl, (await anotherKey(service.api)).key);

  it('are the same when many that differ are asked at once, of several keys', async () => {
    const keys = [await tenant(), await tenant()];
    const queries: [Api, string][] = [];
    for (const api of keys) {
      const ids: string[] = [];
      for (let at = 0; at < 9; at += 1) ids.push((await api.create(aFailure)).body.task_id);
      await database.query(`update tasks set created_at = created_at - interval '1 day' where id = any($1)`, [ids.slice(0, 4)]); // prettier-ignore
      const dayAgo = Math.floor(Date.now() / 1_000) - 43_200;
      for (const order of ['asc', 'desc']) {
        for (const id of ids) queries.push([api, `order=${order}&after=${id}`]);
        for (let limit = 1; limit < 12; limit += 1) queries.push([api, `order=${order}&limit=${limit}`]);
        for (let nth = 0; nth < 9; nth += 1) queries.push([api, `order=${order}&created_after=${dayAgo + nth}`]);
        for (let nth = 0; nth < 9; nth += 1)
          queries.push([api, `order=${order}&created_before=${dayAgo + nth}&limit=3`]);
      }
    }
    const alone: string[] = [];
    for (const [api, query] of queries) alone.push((await api.get(`/v1/tasks?${query}`)).text);
    const together = await Promise.all(queries.map(async ([api, query]) => (await api.get(`/v1/tasks?${query}`)).text));
    expect(together).toEqual(alone);
    expect(new Set(alone).size).toBeGreaterThan(60);
  });

  it('of a batch find words of any characters, several searches at once', async () => {
    const batches = new BatchClient(service.api);
    const { id } = await batches.of(PROMPTS.map((prompt) => ({ ...aFailure, prompt })));
    const searches = ['"quoted"', '"quoted" harbour', 'c:\\temp', '\\x,', '{braces}', 'plain,', 'null', "it's", '50%_', '%', '海洋', 'plain', 'x y', '\u0007']; // prettier-ignore
    const found = await Promise.all(
      searches.map((search) => pageOf(service.api, `order=asc&batch_id=${id}&search=${encodeURIComponent(search)}`)),
    );
    for (const [at, search] of searches.entries()) {
      const words = search.toLowerCase().split(' ');
      const wanted = PROMPTS.filter((prompt) => words.every((word) => prompt.toLowerCase().includes(word)));
      expect(found[at]!.data.map(({ input }) => (input as { prompt: string }).prompt)).toEqual(wanted);
    }
  });

  it('are read again where a task has ceased to match while its page was read', async () => {
    const api = await tenant();
    const ids: string[] = [];
    for (let at = 0; at < 4; at += 1) ids.push((await api.create(aHang)).body.task_id);
    let started = false;
    insteadOfReads(async (wanted, real) => {
      if (!started) {
        started = true;
        await database.query(`update tasks set status = 'running' where id = any($1)`, [ids.slice(0, 2)]);
      }
      return real(wanted);
    });
    const page = await pageOf(api, 'status=queued&order=asc&limit=2');
    expect(idsOf(page)).toEqual(ids.slice(2));
    expect(page).toMatchObject({ has_more: false, last_id: ids[3] });
    expect(started).toBe(true);
  });

  it('have nothing that does not match, however often their tasks change', async () => {
    const api = await tenant();
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) ids.push((await api.create(aHang)).body.task_id);
    let changes = 0;
    insteadOfReads(async (wanted, real) => {
      if (!wanted.includes(ids[1]!)) return real(wanted);
      changes += 1;
      await database.query(`update tasks set status = 'running' where id = $1`, [ids[1]]);
      const read = await real(wanted);
      await database.query(`update tasks set status = 'queued' where id = $1`, [ids[1]]);
      return read;
    });
    const page = await pageOf(api, 'status=queued&order=asc');
    expect(idsOf(page)).toEqual([ids[0], ids[2]]);
    expect(page.data.map(({ status }) => status)).toEqual(['queued', 'queued']);
    expect(changes).toBe(3);
  });

  it('go on behind tasks that change each time, so that a page with more behind it has a cursor', async () => {
    const api = await tenant();
    const ids: string[] = [];
    for (let at = 0; at < 6; at += 1) ids.push((await api.create(aHang)).body.task_id);
    const changed: string[] = [];
    insteadOfReads(async (wanted, real) => {
      if (changed.length < 4) {
        changed.push(...wanted);
        await database.query(`update tasks set status = 'running' where id = any($1)`, [wanted]);
      }
      return real(wanted);
    });
    const page = await pageOf(api, 'status=queued&order=asc&limit=1');
    expect(changed).toEqual(ids.slice(0, 4));
    expect(idsOf(page)).toEqual([ids[4]]);
    expect(page).toMatchObject({ has_more: true, last_id: ids[4] });
  });

  it('are not read again for a change after which their tasks still match', async () => {
    const api = await tenant();
    const { task_id: id } = (await api.create(aHang)).body;
    let read = 0;
    insteadOfReads(async (wanted, real) => {
      read += 1;
      await database.query(`update tasks set progress = 7 where id = any($1)`, [wanted]);
      return real(wanted);
    });
    expect((await pageOf(api, 'status=queued')).data).toMatchObject([{ task_id: id, progress: 7 }]);
    expect(read).toBe(1);
  });
});

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
  let other: Client;
  /** A separate connection, because pg_stat_activity does not change within a transaction. */
  let observer: Client;
  beforeAll(async () => {
    other = new Client({ connectionString: service.database.url });
    observer = new Client({ connectionString: service.database.url });
    await Promise.all([other.connect(), observer.connect()]);
    await other.query('delete from tasks; delete from key_load');
    await service.api.create(aHang); // creates the key_load row of the key
  });
  afterAll(async () => {
    await Promise.all([other.end(), observer.end()]);
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

/** A partition is indexed as a whole an hour after its end. */
const TODAY = Math.floor((Date.now() - 3_600_000) / DAY_MS) * DAY_MS;
/** Days of the partitions: the last one is open. */
const DAYS = 4;
/** More than are compared in the order of the list, in each partition. */
const A_DAY = 2_600;
const FIRST = 10_000;

const WORDS_OF: [every: number, at: number, words: string][] = [
  [700, 3, 'Ein Fuchs in MÜNCHEN'],
  [900, 11, '海洋の灯台と港'],
  [650, 17, '50%_off c:\\temp\\x'],
  [800, 23, 'Маяк на закате'],
  [2_100, 29, 'quokka'],
  [3_300, 31, "it's a_b ab 🦊🦊🦊 x-y"],
  [450, 37, 'ÉTÉ à la plage'],
];
const promptOf = (nth: number): string =>
  `A lighthouse at dusk ${WORDS_OF.filter(([every, at]) => nth % every === at).map(([, , words]) => words).join(' ')}${nth < A_DAY ? ' campaign' : ''}`; // prettier-ignore

const SEARCHES = [
  'lighthouse', 'submarine', 'quokka', 'QUOKKA dusk', 'münchen', 'MÜNCHEN fuchs', 'été', 'Été PLAGE', '海洋', '海洋の灯台', '灯台 港', 'маяк', 'ЗАКАТЕ маяк',
  '50%', '%_off', '_', '%', '\\temp', 'c:\\temp\\x', '\\', 'a_b', 'ab', 'qu', 'uo kk', 'x-y', '🦊🦊🦊', "it's", 'campaign', 'campaign quokka', 'quokka submarine',
  'light use quo', '---', 'kka%', 'q_okka',
]; // prettier-ignore
const BESIDE = ['&model=gpt-image-2', '&model=sora-2', '&metadata[shop]=north', '&metadata[shop]=none', `&created_before=${(TODAY - DAY_MS) / 1000}`]; // prettier-ignore

/** Of today. */
const minutes = (from: number, to: number): Stretch => ({
  from: idBoundAt(TODAY + from * 60_000),
  to: idBoundAt(TODAY + to * 60_000),
});

describe('a search for words', () => {
  let database: Client;

  beforeAll(async () => {
    database = new Client({ connectionString: service.database.url });
    await database.connect();
    await database.query('delete from tasks; delete from key_load');
    const { rows } = await database.query<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'tasks'::regclass and inhrelid <> 'tasks_rest'::regclass`,
    );
    await database.query(`drop table ${rows.map(({ name }) => name).join(', ')}`);
    for (let day = 0; day < DAYS; day += 1) {
      const [from, to] = [day - DAYS + 1, day - DAYS + 2].map((at) => idBoundAt(TODAY + at * DAY_MS));
      await database.query(
        `create table tasks_${day} partition of tasks for values from (${day === 0 ? 'minvalue' : `'${from}'`}) to ('${to}')`,
      );
    }
    const { id } = (await database.query<{ id: string }>(`select id from api_keys where name = 'BOOTSTRAP_API_KEY'`))
      .rows[0]!;
    for (const [owner, key] of [id, 'key_neighbour'].entries()) {
      const tasks = Array.from({ length: DAYS * A_DAY }, (_, nth) => {
        const ms = TODAY + (Math.floor(nth / A_DAY) - DAYS + 1) * DAY_MS + (nth % A_DAY) * 1_000;
        const hasOwnModel = nth % 1_300 === 3;
        return { id: `${idBoundAt(ms)}e000000000${owner}${FIRST + nth}`, ms, prompt: promptOf(nth), shop: nth % 2 ? 'north' : 'south', model: hasOwnModel ? 'sora-2' : 'gpt-image-2' }; // prettier-ignore
      });
      await database.query(
        `insert into tasks (id, api_key_id, kind, model, source, status, input, metadata, created_at, completed_at, deadline_at, expires_at, result)
         select id, $1, 'image', model, 'api', 'succeeded', jsonb_build_object('prompt', prompt, 'n', 1), jsonb_build_object('shop', shop),
                to_timestamp(ms / 1000), now(), now(), now() + interval '1 day', '[]'
         from jsonb_to_recordset($2) as made(id text, ms float8, prompt text, shop text, model text)`,
        [key, JSON.stringify(tasks)],
      );
    }
    await database.query('analyze tasks');
  });
  afterAll(async () => {
    await database?.end();
  });

  const build = () => (service.app.get(IndexWords) as unknown as { interval: { runNow(): Promise<void> } }).interval.runNow(); // prettier-ignore
  const states = async () => (await readWordIndexes(database)).map(({ isValid }) => isValid);
  const stretches = async () => (await readWordIndexes(database)).map((each) => usable(each).length);
  const dropStretches = async () => {
    const { stretches: built } = (await readWordIndexes(database)).at(-1)!;
    await database.query(`drop index ${built.map(({ name }) => name).join(', ')}`);
  };
  const buildStretches = async (...built: Stretch[]) => {
    for (const stretch of built) {
      const name = stretchIndexOf('tasks_3', stretch);
      await database.query(buildWordIndex({ partition: 'tasks_3', name, stretch }));
    }
    service.app.get(WordIndexes).forget();
  };

  /** A build waits for an open transaction, and gives up. */
  const interruptBuild = async () => {
    const other = new Client({ connectionString: service.database.url });
    await other.connect();
    const definition = (await database.query<{ text: string }>(`select pg_get_indexdef('tasks_1_words'::regclass) as text`)).rows[0]!.text; // prettier-ignore
    await database.query('drop index tasks_1_words');
    await other.query(`begin; lock table tasks_1 in row exclusive mode`);
    await database.query(`set lock_timeout = '100ms'`);
    await expect(database.query(definition.replace('INDEX', 'INDEX CONCURRENTLY'))).rejects.toMatchObject({ code: '55P03' }); // prettier-ignore
    await database.query('reset lock_timeout');
    await other.end();
  };

  const pagesOf = async (query: string, limit: number): Promise<number[]> => {
    const found: number[] = [];
    for (let after = '', pages = 0; pages < 3; pages += 1) {
      const { status, body } = await service.api.get<{ data: TaskBody[]; has_more: boolean }>(
        `/v1/tasks?limit=${limit}&${query}${after && `&after=${after}`}`,
      );
      expect(status).toBe(200);
      found.push(...body.data.map(({ task_id }) => Number(task_id.slice(-5)) - FIRST));
      if (!body.has_more) break;
      expect(body.data).toHaveLength(limit);
      after = body.data.at(-1)!.task_id;
    }
    return found;
  };
  const answers = async () => {
    const all: Record<string, number[]> = {};
    for (const [nth, search] of SEARCHES.entries()) {
      // Each search alone in one order, and with one of the filters in turn in the other order.
      for (const [at, beside] of ['', BESIDE[nth % BESIDE.length]].entries()) {
        const query = `search=${encodeURIComponent(search)}${beside}&order=${(nth + at) % 2 === 0 ? 'asc' : 'desc'}`;
        all[query] = await pagesOf(query, 4);
      }
    }
    return all;
  };

  it('answers the same with no index, with all, with one interrupted, and with one made again', async () => {
    const name = new URL(service.database.url).pathname.slice(1);
    await database.query(`revoke create on database ${name} from current_user`);
    await build(); // the extensions are missing, and the role may not make them
    expect(await states()).toEqual([undefined, undefined, undefined, undefined]);
    await database.query(`grant create on database ${name} to current_user`);
    const plain = await answers();
    expect(plain['search=quokka&order=asc']).toEqual([29, 2_129, 4_229, 6_329, 8_429]);
    expect(plain['search=q_okka&order=desc']).toEqual([]);

    await build();
    expect(await states()).toEqual([true, true, true, undefined]);
    expect(await stretches()).toEqual([0, 0, 0, 1]);
    expect(await answers()).toEqual(plain);

    await dropStretches();
    await buildStretches(minutes(0, 20), minutes(20, 25));
    await interruptBuild();
    service.app.get(WordIndexes).forget();
    expect(await states()).toEqual([true, false, true, undefined]);
    expect(await stretches()).toEqual([0, 0, 0, 2]);
    expect(await answers()).toEqual(plain);

    await build(); // of what is left of today, and the short stretches with it
    expect(await states()).toEqual([true, true, true, undefined]);
    expect(await stretches()).toEqual([0, 0, 0, 1]);
    expect(await answers()).toEqual(plain);
  });

  it('finds a task that came into an indexed stretch later', async () => {
    await database.query(
      `update tasks set input = jsonb_build_object('prompt', 'A platypus', 'n', 1) where id like $1`,
      [`${idBoundAt(TODAY + 100_000)}e0000000000%`],
    );
    expect(await pagesOf('search=platypus', 4)).toEqual([(DAYS - 1) * A_DAY + 100]);
  });

  it('waits with a stretch of which much is unfinished, or that has few tasks', async () => {
    const nowMs = TODAY + 40 * 60_000;
    const due = async () => (await dueIndexes(database, nowMs, 0)).map(({ stretch }) => stretch);
    await dropStretches();
    expect(await due()).toEqual([minutes(0, 30)]);
    await database.query(`update tasks set completed_at = null where id >= $1 and id < $2`, [minutes(0, 4).from, minutes(0, 4).to]); // prettier-ignore
    expect(await due()).toEqual([]);
    await database.query(`update tasks set completed_at = now() where completed_at is null`);
    expect(await due()).toEqual([minutes(0, 30)]);
    await buildStretches(minutes(0, 20)); // the rest has 1,200 tasks
    expect(await due()).toEqual([]);
  });

  it('reads nothing of the index of words for metadata', async () => {
    const search = { apiKeyId: 'key_neighbour', filter: { metadata: { shop: 'none' } }, after: 'task_z', order: 'desc' as const, wanted: 21 }; // prettier-ignore
    const { statement, values } = restOfMatches(search);
    await database.query('set plan_cache_mode = force_generic_plan; set enable_seqscan = off');
    await database.query(`prepare rest (text, int, text, text) as ${statement.text}`);
    const { rows } = await database.query<{ 'QUERY PLAN': string }>(
      `explain execute rest (${values.map((value) => `'${value as string}'`).join(', ')})`,
    );
    const text = rows.map((row) => row['QUERY PLAN']).join('\n');
    expect(text.match(/Index Scan on \S+metadata_idx/g)).toHaveLength(DAYS + 1);
    expect(text).not.toContain('_words');
  });

  it.each([
    ['the partitions before', { from: '', to: idBoundAt(TODAY) }, DAYS - 1],
    ['a stretch of the current one', { ...minutes(0, 20), partition: 'tasks_3' }, 1],
  ])('reads few rows of %s for a word that no task has', async (_where, span, indexes) => {
    const dataSource = service.app.get(DataSource);
    const search = { apiKeyId: 'key_neighbour', filter: { search: 'submarine' }, after: 'task_z', order: 'desc' as const, wanted: 21 }; // prettier-ignore
    const { statement, values } = fewWithWords(search, span, ['submarine']);
    const runner = dataSource.createQueryRunner();
    const plan: { 'QUERY PLAN': string }[] = await runner.query(
      `explain (analyze, costs off) ${statement.text}`,
      values,
    );
    await runner.release();
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text.match(/Index Scan on tasks_\d_words/g)).toHaveLength(indexes);
    expect(text).not.toMatch(/Seq Scan|_pkey/);
  });

  it('goes on where the partition of a stretch is gone since the indexes were read', async () => {
    const before = (await pagesOf('search=quokka&order=asc', 4)).filter((nth) => nth < (DAYS - 1) * A_DAY);
    await database.query('drop table tasks_3');
    expect(await pagesOf('search=quokka&order=asc', 4)).toEqual(before);
    expect(before).toHaveLength(4);
  });
});
