// In process: answers are compared with the view that the process makes, and tests act between its statements, give it rows
// that no request can make, and say when it builds indexes.
import { Client } from 'pg';
import { TaskViews } from '../../src/tasks/read/task-views.ts';
import { isFinal, SHOWN, type Task } from '../../src/tasks/record/task.entity.ts';
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
import { DAY_MS, idBoundAt } from '../../src/platform/schema/time.ts';
import { FillWords } from '../../src/tasks/sql/fill-words.ts';
import { withWords } from '../../src/tasks/sql/match-tasks.ts';
import { TaskWordsIndex } from '../../src/tasks/sql/task-words.ts';

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

/** What an unfinished task has no column for. */
const OF_END = ['completed_at', 'result', 'error', 'files_expire_at', 'usage', 'kept_at', 'collection'];

/** Another value of each column that an answer shows or depends on. The id and its owner never change, and each change raises the sequence. */
const CHANGES: Record<Exclude<(typeof SHOWN)[number], 'id' | 'api_key_id' | 'status' | 'sequence'>, unknown> = {
  kind: 'video',
  model: 'sora-2',
  progress: 99,
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
  kept_at: hour(8),
  collection: 'Covers',
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
    const table = isFinal((task as Task).status) ? 'tasks_done' : 'tasks_live';
    const text = `insert into ${table} (${Object.keys(task)}) values (${values.map((_, at) => `$${at + 1}`)})`;
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
    expect([...Object.keys(CHANGES), 'id', 'api_key_id', 'status', 'sequence'].toSorted()).toEqual(SHOWN.toSorted());
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
    const changed = ids.slice(0, 8); // some of each table
    for (const [column, value] of Object.entries(CHANGES)) {
      const set =
        value !== null && typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value;
      const before = await db.query<Task>(`select * from tasks where id = any($1) order by id`, [changed]);
      for (const table of ['tasks_live', 'tasks_done'].filter(
        (table) => table === 'tasks_done' || !OF_END.includes(column),
      ))
        await db.query(`update ${table} set ${column} = $2, sequence = sequence + 1 where id = any($1)`, [
          changed,
          set,
        ]);
      await listsAreTrue();
      for (const row of before.rows) {
        const old = row[column as keyof Task];
        const back = old !== null && typeof old === 'object' && !(old instanceof Date) ? JSON.stringify(old) : old;
        const table = isFinal(row.status) ? 'tasks_done' : 'tasks_live';
        if (table === 'tasks_done' || !OF_END.includes(column))
          await db.query(`update ${table} set ${column} = $2, sequence = sequence + 1 where id = $1`, [row.id, back]);
      }
    }
    await listsAreTrue();
  });

  it('a page shows the last of several changes of one transaction, and of one that was undone nothing', async () => {
    const progress = async () => {
      const { body } = await service.api.get<{ data: { progress: number }[] }>('/v1/tasks?status=running&limit=1');
      return body.data[0]!.progress;
    };
    const set = (to: number) => db.query('update tasks_live set progress = $2 where id = $1', [ids[2], to]);
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
      await db.query('update tasks_live set progress = $2, sequence = sequence + 1 where id = $1', [ids[2], progress]);
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
  function insteadOfReads(act: (wanted: string[], real: ReadTasks['findMany']) => ReturnType<ReadTasks['findMany']>) {
    const reads = service.app.get(ReadTasks);
    const real = reads.findMany.bind(reads);
    jest.spyOn(reads, 'findMany').mockImplementation((wanted) => act(wanted, real));
  }
  const tenant = async () => new Api(service.baseUrl, (await anotherKey(service.api)).key);

  it('are the same when many that differ are asked at once, of several keys', async () => {
    const keys = [await tenant(), await tenant()];
    const queries: [Api, string][] = [];
    for (const api of keys) {
      const ids: string[] = [];
      for (let at = 0; at < 9; at += 1) ids.push((await api.create(aFailure)).body.task_id);
      await database.query(`update tasks_live set created_at = created_at - interval '1 day' where id = any($1)`, [ids.slice(0, 4)]); // prettier-ignore
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

  it('leave out a task that has ceased to match while its page was read', async () => {
    const api = await tenant();
    const ids: string[] = [];
    for (let at = 0; at < 4; at += 1) ids.push((await api.create(aHang)).body.task_id);
    let started = false;
    insteadOfReads(async (wanted, real) => {
      if (!started) {
        started = true;
        await database.query(`update tasks_live set status = 'running', sequence = sequence + 1 where id = any($1)`, [
          ids.slice(0, 2),
        ]);
      }
      return real(wanted);
    });
    const page = await pageOf(api, 'status=queued&order=asc&limit=3');
    expect(idsOf(page)).toEqual(ids.slice(2, 3));
    expect(page).toMatchObject({ has_more: true, last_id: ids[2] });
    expect(started).toBe(true);
    expect(idsOf(await pageOf(api, `status=queued&order=asc&limit=3&after=${ids[2]}`))).toEqual(ids.slice(3));
  });

  it('have nothing that does not match, however often their tasks change', async () => {
    const api = await tenant();
    const ids: string[] = [];
    for (let at = 0; at < 3; at += 1) ids.push((await api.create(aHang)).body.task_id);
    let changes = 0;
    insteadOfReads(async (wanted, real) => {
      if (!wanted.includes(ids[1]!)) return real(wanted);
      changes += 1;
      await database.query(`update tasks_live set status = 'running', sequence = sequence + 1 where id = $1`, [ids[1]]);
      const read = await real(wanted);
      await database.query(`update tasks_live set status = 'queued', sequence = sequence + 1 where id = $1`, [ids[1]]);
      return read;
    });
    const page = await pageOf(api, 'status=queued&order=asc');
    expect(idsOf(page)).toEqual([ids[0], ids[2]]);
    expect(page.data.map(({ status }) => status)).toEqual(['queued', 'queued']);
    expect(changes).toBe(1);
  });

  it('go on behind tasks that change each time, so that a page with more behind it has a cursor', async () => {
    const api = await tenant();
    const ids: string[] = [];
    for (let at = 0; at < 6; at += 1) ids.push((await api.create(aHang)).body.task_id);
    const changed: string[] = [];
    insteadOfReads(async (wanted, real) => {
      if (changed.length < 4) {
        changed.push(...wanted);
        await database.query(`update tasks_live set status = 'running', sequence = sequence + 1 where id = any($1)`, [
          wanted,
        ]);
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
      await database.query(`update tasks_live set progress = 7 where id = any($1)`, [wanted]);
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
    await other.query('delete from tasks_live; delete from tasks_done; delete from key_load');
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
    const made = await other.query<{ id: string; api_key_id: string; place: number }>(
      'select id, api_key_id, (place - min(place) over ())::int as place from tasks where id = any($1)',
      [rows.map(({ id }) => id)],
    );
    const found = new Map(made.rows.map(({ id, ...rest }) => [id, rest]));
    expect(rows.map(({ id }) => found.get(id))).toEqual([
      { api_key_id: 'key_one', place: 0 },
      { api_key_id: 'key_two', place: 0 },
      { api_key_id: 'key_one', place: 1_000 },
      { api_key_id: 'key_three', place: 0 },
      { api_key_id: 'key_two', place: 1_000 },
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

const TODAY = Math.floor((Date.now() - 3_600_000) / DAY_MS) * DAY_MS;
/** More than are compared in the order of the list. */
const MANY_TASKS = 8_000;
const FIRST = 10_000;
/** The newest of them end while the filler has not come yet. */
const LATE = 300;
/** The newest of all are unfinished. */
const UNFINISHED = 200;

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
  `A lighthouse at dusk ${WORDS_OF.filter(([every, at]) => nth % every === at).map(([, , words]) => words).join(' ')}${nth < 2_500 ? ' campaign' : ''}`; // prettier-ignore

const SEARCHES = [
  'lighthouse', 'submarine', 'quokka', 'QUOKKA dusk', 'münchen', 'MÜNCHEN fuchs', 'été', 'Été PLAGE', '海洋', '海洋の灯台', '灯台 港', 'маяк', 'ЗАКАТЕ маяк',
  '50%', '%_off', '_', '%', '\\temp', 'c:\\temp\\x', '\\', 'a_b', 'ab', 'qu', 'uo kk', 'x-y', '🦊🦊🦊', "it's", 'campaign', 'campaign quokka', 'quokka submarine',
  'light use quo', '---', 'kka%', 'q_okka',
]; // prettier-ignore
const BESIDE = ['&model=gpt-image-2', '&model=sora-2', '&metadata[shop]=north', '&metadata[shop]=none', '&status=succeeded', `&created_before=${(TODAY + 4_000_000) / 1000}`]; // prettier-ignore

describe('a search for words', () => {
  let database: Client;

  beforeAll(async () => {
    database = new Client({ connectionString: service.database.url });
    await database.connect();
    await database.query('delete from tasks_live; delete from tasks_done; delete from key_load');
    const { id } = (await database.query<{ id: string }>(`select id from api_keys where name = 'BOOTSTRAP_API_KEY'`))
      .rows[0]!;
    for (const [owner, key] of [id, 'key_neighbour'].entries()) {
      const tasks = Array.from({ length: MANY_TASKS }, (_, nth) => {
        const ms = TODAY + nth * 1_000;
        return { id: `${idBoundAt(ms)}e000000000${owner}${FIRST + nth}`, ms, prompt: promptOf(nth), shop: nth % 2 ? 'north' : 'south', model: nth % 1_300 === 3 ? 'sora-2' : 'gpt-image-2' }; // prettier-ignore
      });
      const insert = (table: string, of: object[], column: string, value: string, status: string) =>
        database.query(
          `insert into ${table} (id, api_key_id, kind, model, source, status, input, metadata, created_at, deadline_at, expires_at, ${column})
           select id, $1, 'image', model, 'api', '${status}', jsonb_build_object('prompt', prompt, 'n', 1), jsonb_build_object('shop', shop),
                  to_timestamp(ms / 1000), now(), now() + interval '1 day', ${value}
           from jsonb_to_recordset($2) as made(id text, ms float8, prompt text, shop text, model text)`,
          [key, JSON.stringify(of)],
        );
      await insert('tasks_done', tasks.slice(0, -LATE - UNFINISHED), 'completed_at', `now() - interval '1 hour'`, 'succeeded'); // prettier-ignore
      await insert('tasks_done', tasks.slice(-LATE - UNFINISHED, -UNFINISHED), 'completed_at', 'now()', 'succeeded');
      await insert('tasks_live', tasks.slice(-UNFINISHED), 'waits', 'true', 'queued');
    }
    await database.query('update words_state set through = to_timestamp(0); analyze tasks_live; analyze tasks_done');
  });
  afterAll(async () => {
    await database?.end();
  });

  const fill = () => service.app.get(FillWords).fill();
  const filled = async () => (await database.query('select from task_words')).rowCount;

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

  it('answers the same without the index, and with the words of all tasks but the newest', async () => {
    const name = new URL(service.database.url).pathname.slice(1);
    await database.query(`revoke create on database ${name} from current_user`);
    await expect(fill()).rejects.toMatchObject({ code: '42501' }); // the extensions are missing, and the role may not make them
    await database.query(`grant create on database ${name} to current_user`);
    const plain = await answers();
    expect(plain['search=quokka&order=asc']).toEqual([29, 2_129, 4_229, 6_329]);
    expect(plain['search=q_okka&order=desc']).toEqual([]);

    while (await fill());
    expect(await filled()).toBe(2 * (MANY_TASKS - LATE - UNFINISHED));
    expect(await service.app.get(TaskWordsIndex).findable(['quokka', 'qu'])).toEqual(['quokka']);
    expect(await answers()).toEqual(plain);
  });

  it('finds a task that ended since', async () => {
    const [at] = [MANY_TASKS - UNFINISHED - 7];
    await database.query(
      `update tasks_done set input = jsonb_build_object('prompt', 'A platypus', 'n', 1) where id like $1`,
      [`%e0000000000${FIRST + at}`],
    );
    expect(await pagesOf('search=platypus', 4)).toEqual([at]);
  });

  it('reads few rows for a word that no task has', async () => {
    const search = { apiKeyId: 'key_neighbour', filter: { search: 'submarine' }, after: 'task_z', order: 'desc' as const, wanted: 21 }; // prettier-ignore
    const { statement, values } = withWords(search, ['submarine']);
    const runner = service.app.get(DataSource).createQueryRunner();
    const plan: { 'QUERY PLAN': string }[] = await runner.query(
      `explain (analyze, costs off) ${statement.text}`,
      values,
    );
    await runner.release();
    const text = plan.map((row) => row['QUERY PLAN']).join('\n');
    expect(text).toContain('Index Scan on task_words_gin');
    expect(text).not.toMatch(/Seq Scan on tasks/);
  });

  it('forgets the words of a task with the task', async () => {
    await database.query(`delete from tasks_done where api_key_id = 'key_neighbour'`);
    expect(await filled()).toBe(MANY_TASKS - LATE - UNFINISHED);
  });
});
