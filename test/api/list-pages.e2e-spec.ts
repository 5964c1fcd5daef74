// In process: it acts between the statement of a page and the one that reads its tasks.
import { jest } from '@jest/globals';
import { Client } from 'pg';
import { ReadTasks } from '../../src/tasks/sql/read-tasks.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { aFailure, aHang, Api, type TaskBody } from '../support/clients/api.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';

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
  let service: InProcess;
  let database: Client;
  beforeAll(async () => {
    service = await startInProcess({ ROLE: 'api' });
    database = new Client({ connectionString: service.database.url });
    await database.connect();
  });
  afterAll(async () => {
    await database?.end();
    await service?.close();
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
