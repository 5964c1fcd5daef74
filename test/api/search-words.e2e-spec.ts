// In-process: the test says when indexes are built, and lets the service forget those that it knows.
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { DAY_MS, idBoundAt } from '../../src/platform/schema/time.ts';
import { IndexWords } from '../../src/tasks/sql/index-words.ts';
import { buildWordIndex, dueIndexes } from '../../src/tasks/sql/build-word-indexes.ts';
import { fewWithWords, restOfMatches } from '../../src/tasks/sql/match-tasks.ts';
import { readWordIndexes, usable, WordIndexes } from '../../src/tasks/sql/word-indexes.ts';
import { type Stretch, stretchIndexOf } from '../../src/tasks/sql/word-stretches.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import type { TaskBody } from '../support/clients/api.ts';

/** A partition is indexed as a whole an hour after its end. */
const TODAY = Math.floor((Date.now() - 3_600_000) / DAY_MS) * DAY_MS;
/** Days of the partitions: the last one is open. */
const DAYS = 4;
/** More than are compared in the order of the list, in each partition. */
const A_DAY = 2_600;
const FIRST = 10_000;

const PROMPTS: [every: number, at: number, words: string][] = [
  [700, 3, 'Ein Fuchs in MÜNCHEN'],
  [900, 11, '海洋の灯台と港'],
  [650, 17, '50%_off c:\\temp\\x'],
  [800, 23, 'Маяк на закате'],
  [2_100, 29, 'quokka'],
  [3_300, 31, "it's a_b ab 🦊🦊🦊 x-y"],
  [450, 37, 'ÉTÉ à la plage'],
];
const promptOf = (nth: number): string =>
  `A lighthouse at dusk ${PROMPTS.filter(([every, at]) => nth % every === at).map(([, , words]) => words).join(' ')}${nth < A_DAY ? ' campaign' : ''}`; // prettier-ignore

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
  let service: InProcess;
  let database: Client;

  beforeAll(async () => {
    service = await startInProcess({ ROLE: 'api' }); // builds when the test says so
    database = new Client({ connectionString: service.database.url });
    await database.connect();
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
    const { id } = (await database.query<{ id: string }>('select id from api_keys')).rows[0]!;
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
  }, 60_000);
  afterAll(async () => {
    await database?.end();
    await service?.close();
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
      // Each search alone, and with one of the filters in turn.
      for (const beside of ['', BESIDE[nth % BESIDE.length]]) {
        for (const order of ['desc', 'asc']) {
          const query = `search=${encodeURIComponent(search)}${beside}&order=${order}`;
          all[query] = await pagesOf(query, 4);
        }
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
    expect(plain['search=q_okka&order=asc']).toEqual([]);

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
  }, 240_000);

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
