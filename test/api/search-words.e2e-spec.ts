// Inside Jest: the test runs the rounds of the index itself, because a worker waits 30 s between two.
import { Client } from 'pg';
import { IndexWords } from '../../src/tasks/queue/index-words.ts';
import { FillWords } from '../../src/tasks/sql/fill-words.ts';
import type { TaskBody } from '../support/clients/api.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';

/** Older than all that the test creates, and more than a search compares before it asks the index. */
const OLD = 8_000;
/** The index takes tasks that ended a minute ago, so these enter it one after another while the test runs. */
const ENDED_IN_LAST_S = 120;
const ENTERED = 100;
const SEARCHES = 20;

let service: InProcess;
let database: Client;
beforeAll(async () => {
  service = await startInProcess();
  database = new Client({ connectionString: service.database.url });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await service?.close();
});

/** So rare that a search does not fill a page before it asks the index. */
const RARE = 25;
const promptOf = (nth: number) => (nth % RARE === 0 ? 'a lighthouse' : 'a gate');

it('finds each task with the word, while tasks end and the index is filled', async () => {
  const words = service.app.get(FillWords);
  await service.app.get(IndexWords).onApplicationShutdown(); // so that only this test fills the index
  const { rows: old } = await database.query<{ id: string; prompt: string }>(
    `insert into tasks_done (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, error)
     select 'task_00' || lpad(n::text, 24, '0'), (select id from api_keys), 'image', 'gpt-image-2', 'failed',
            json_build_object('prompt', case when n % $3 = 0 then 'a lighthouse' else 'a gate' end), now(), now() - n::float8 / $1 * $2 * interval '1 second',
            now(), now() + interval '1 day', '{"code": "task_cancelled", "message": "", "retryable": false}'
     from generate_series(1, $1::int) n returning id, input->>'prompt' as prompt`,
    [OLD, ENDED_IN_LAST_S, RARE],
  );
  const committed = old.filter(({ prompt }) => prompt === 'a lighthouse').map(({ id }) => id);
  const indexed = async () => (await database.query('select id from task_words')).rowCount!;
  // If the worker has made the index already, it began with the time before these rows.
  await database.query(`update words_state set through = now() - interval '3 minutes'`);
  await words.fill();
  const before = await indexed();
  expect(before).toBeGreaterThan(0);

  const over = new AbortController();
  const untilOver = async (act: () => Promise<unknown>) => {
    while (!over.signal.aborted) await act();
  };
  let nth = 0;
  const creating = untilOver(async () => {
    const prompt = promptOf(++nth);
    const { status, body } = await service.api.create<TaskBody>(
      { model: 'gpt-image-2', prompt: `${prompt} #fail:content_policy_violation` },
      { prefer: 'wait=20' },
    );
    if (status === 201 && prompt === 'a lighthouse') committed.push(body.task_id);
  });
  const filling = untilOver(() => words.fill());

  const search = async () => {
    const expected = [...committed];
    const found: string[] = [];
    for (let hasMore = true; hasMore;) {
      const after = found.length > 0 ? `&after=${found.at(-1)}` : '';
      const { body } = await service.api.get<{ data: TaskBody[]; has_more: boolean }>(
        `/v1/tasks?limit=100&search=lighthouse${after}`,
      );
      found.push(...body.data.map(({ task_id }) => task_id));
      hasMore = body.has_more;
    }
    const ids = new Set(found);
    expect(ids.size).toBe(found.length);
    expect(expected.filter((id) => !ids.has(id))).toEqual([]);
  };
  try {
    for (let searches = 0; searches < SEARCHES || (await indexed()) < before + ENTERED; searches += 1) await search();
  } finally {
    over.abort();
    await Promise.allSettled([creating, filling]);
  }
  await Promise.all([creating, filling]);
});
