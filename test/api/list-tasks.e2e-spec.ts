import { Client } from 'pg';
import { idBoundAt } from '../../src/platform/schema/time.ts';
import { joinSecondProcess, joinService, type SharedService } from '../support/service.ts';
import { aCat, aFailure, aHang, Api, type ErrorBody, type TaskBody } from '../support/clients/api.ts';
import { anotherKey } from '../support/clients/graphql-keys.ts';
import { eventually } from '../support/wait.ts';

interface Page {
  object: string;
  data: TaskBody[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

describe('GET /v1/tasks', () => {
  let service: SharedService;
  const made: string[] = [];
  beforeAll(async () => {
    service = await joinService();
    for (let at = 0; at < 5; at += 1) {
      const metadata: Record<string, string> =
        at === 2 ? { order: '42', colour: 'red', constructor: 'yes' } : { order: String(at) };
      made.unshift((await service.api.create({ ...aFailure, metadata })).body.task_id);
    }
    for (const id of made) await service.api.untilFinal(id);
  });
  afterAll(() => service.close());

  const list = async (query: string) => (await service.api.get<Page>(`/v1/tasks?${query}`)).body;

  it('combines all filters, for every status', async () => {
    const all = `after=${made[0]}&kind=image&model=gpt-image-2&created_after=1&created_before=9999999999&metadata[order]=1`;
    for (let round = 0; round < 12; round += 1) {
      expect((await list(`${all}&status=failed`)).data.map((task) => task.task_id)).toEqual([made[3]]);
      for (const status of ['queued', 'running', 'succeeded']) {
        expect((await list(`${all}&status=${status}`)).data).toEqual([]);
      }
    }
  });

  it('returns the newest first, in pages without gap or overlap', async () => {
    const first = await list('limit=2');
    expect(first).toMatchObject({ object: 'list', has_more: true, first_id: made[0], last_id: made[1] });
    const second = await list(`limit=3&after=${first.last_id}`);
    expect(second.data.map((task) => task.task_id)).toEqual(made.slice(2));
    expect(second.has_more).toBe(false);
    expect(await list(`after=${second.last_id}`)).toMatchObject({
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });

  it.each(['desc', 'asc'])(
    'reads a page again after tasks of it were deleted and others made, order %s',
    async (order) => {
      const { key } = await anotherKey(service.api);
      const tenant = new Api(service.baseUrl, key);
      const ids: string[] = [];
      const make = async () => ids.push((await tenant.create(aFailure, { prefer: 'wait=20' })).body.task_id);
      const remove = async (at: number) => {
        const [id] = ids.splice(at, 1);
        expect((await tenant.call('DELETE', `/v1/tasks/${id}`)).status).toBe(200);
      };
      const pages = async () => {
        const wanted = order === 'asc' ? ids : ids.toReversed();
        for (const filter of ['', '&status=failed']) {
          const { body } = await tenant.get<Page>(`/v1/tasks?limit=2&order=${order}${filter}`);
          expect(body.data.map((task) => task.task_id)).toEqual(wanted.slice(0, 2));
          expect(body.has_more).toBe(ids.length > 2);
        }
      };
      for (let count = 0; count < 5; count += 1) await make();
      for (const change of [
        make,
        () => remove(0),
        () => remove(ids.length - 1),
        () => remove(1),
        make,
        () => remove(1),
      ]) {
        await pages();
        await change();
      }
      await remove(0);
      await pages();
    },
  );

  it('returns each task as GET does, from memory and from the database, and without the file that was just deleted', async () => {
    const { key } = await anotherKey(service.api);
    const tenant = new Api(service.baseUrl, key);
    const elsewhere = new Api(await joinSecondProcess(service), key);
    const ended = (await tenant.create(aCat, { prefer: 'wait=60' })).body;
    const waiting = (await tenant.create(aHang)).body;
    await tenant.until(waiting.task_id, 'running');
    const ids = [waiting.task_id, ended.task_id];
    for (const read of [tenant, elsewhere, tenant, elsewhere]) {
      const { data } = (await read.get<Page>('/v1/tasks')).body;
      expect(data).toEqual(
        await Promise.all(ids.map(async (id) => (await read.get<TaskBody>(`/v1/tasks/${id}`)).body)),
      );
    }
    const { id: fileId, url } = ended.result!.outputs[0]!;
    expect(url).toEqual(expect.any(String));
    expect((await tenant.call('DELETE', `/v1/files/${fileId}`)).status).toBe(200);
    const urlIn = async (api: Api) => (await api.get<Page>('/v1/tasks')).body.data[1]!.result!.outputs[0]!.url;
    expect(await urlIn(tenant)).toBeNull();
    await eventually('the other process', async () => (await urlIn(elsewhere)) === null);
  });

  it('is never older than a GET before it, in each process, from the creation to the deletion', async () => {
    const { key } = await anotherKey(service.api);
    const tenant = new Api(service.baseUrl, key);
    const elsewhere = new Api(await joinSecondProcess(service), key);
    const film = (await tenant.create({ model: 'seedance-2', prompt: 'A river', duration: 10 })).body.task_id;
    const hang = (await tenant.create(aHang)).body.task_id;
    const seen = new Set<string>();
    const sequenceOf = async (id: string) =>
      Number(/\d+/.exec((await tenant.get(`/v1/tasks/${id}`)).headers.get('etag')!)![0]);
    const listIsNew = async () => {
      const before = [await sequenceOf(hang), await sequenceOf(film)];
      for (const api of [tenant, elsewhere]) {
        const { data } = (await api.get<Page>('/v1/tasks')).body;
        expect(data.map(({ task_id }) => task_id)).toEqual([hang, film]);
        const alone = await Promise.all(data.map(({ task_id }) => api.get<TaskBody>(`/v1/tasks/${task_id}`)));
        for (const [at, task] of data.entries()) {
          seen.add(`${task.status} ${task.progress}`);
          const { headers, body } = alone[at]!;
          const isSame = Number(/\d+/.exec(headers.get('etag')!)![0]) === before[at];
          if (isSame) expect(task).toEqual(body); // it has not changed since, so the list shows just this
        }
      }
    };
    await eventually('the end of the film', async () => {
      await listIsNew();
      return (await tenant.get<TaskBody>(`/v1/tasks/${film}`)).body.status === 'succeeded';
    });
    expect(seen.size).toBeGreaterThan(3);
    await listIsNew();
    await tenant.cancel(hang);
    await listIsNew();
    expect((await elsewhere.get<Page>('/v1/tasks')).body.data.map(({ status }) => status)).toEqual(['failed', 'succeeded']); // prettier-ignore
    for (const id of [hang, film]) {
      expect((await tenant.call('DELETE', `/v1/tasks/${id}`)).status).toBe(200);
      for (const api of [elsewhere, tenant]) {
        const { data } = (await api.get<Page>('/v1/tasks')).body;
        expect(data.map(({ task_id }) => task_id)).toEqual(id === hang ? [film] : []);
      }
    }
  });

  it('filters by status, kind, model, time and metadata', async () => {
    expect((await list('status=failed&kind=image&model=gpt-image-2')).data).toHaveLength(5);
    expect((await list('status=succeeded')).data).toHaveLength(0);
    expect((await list('kind=video')).data).toHaveLength(0);
    expect((await list(`created_after=${Math.floor(Date.now() / 1000) + 60}`)).data).toHaveLength(0);
    expect((await list(`created_before=${Math.floor(Date.now() / 1000) + 60}`)).data).toHaveLength(5);
    expect((await list('metadata[order]=42&metadata[colour]=red')).data.map((task) => task.task_id)).toEqual([made[2]]);
    expect((await list('metadata[order]=42&metadata[colour]=blue')).data).toHaveLength(0);
    expect((await list('metadata[__proto__]=42')).data).toHaveLength(0);
    expect((await list('metadata[constructor]=yes')).data.map((task) => task.task_id)).toEqual([made[2]]);
  });

  it('filters by creation between two times, both exclusive', async () => {
    const start = Math.floor(Date.now() / 1000) - 30 * 86_400;
    const times = [0, 1, 100, 3600, 86_400].map((afterS) => start + afterS);
    const client = new Client({ connectionString: service.database.url });
    await client.connect();
    for (const at of times) {
      await client.query(`insert into tasks select (jsonb_populate_record(t, $2)).* from tasks t where id = $1`, [
        made[0],
        { id: `${idBoundAt(at * 1000)}${'0'.repeat(16)}`, created_at: new Date(at * 1000 + 1) },
      ]);
    }
    await client.end();
    const created = async (query: string) => (await list(`${query}&limit=100`)).data.map((task) => task.created_at);
    const [first, second, third, fourth, fifth] = times as [number, number, number, number, number];
    expect(await created(`created_before=${fifth}`)).toEqual([fourth, third, second, first]);
    expect(await created(`created_after=${third + 1}&created_before=${fifth + 1}`)).toEqual([fifth, fourth]);
    expect(await created(`created_after=${first + 1}&created_before=${fourth}`)).toEqual([third, second]);
    expect(await created(`created_after=${fifth + 1}`)).toHaveLength(5);
    expect(await created(`created_after=${fifth + 1}&created_before=${fifth + 100}`)).toEqual([]);
  });

  it.each([
    ['limit=0', 'value_out_of_range', 'limit'],
    ['limit=101', 'value_out_of_range', 'limit'],
    ['limit=ten', 'invalid_type', 'limit'],
    ['limit=1&limit=2', 'invalid_type', 'limit'],
    ['status=done', 'invalid_value', 'status'],
    ['kind=audio', 'invalid_value', 'kind'],
    ['after=abc', 'invalid_value', 'after'],
    ['sort=asc', 'unknown_parameter', 'sort'],
    ['created_after=-1', 'value_out_of_range', 'created_after'],
    ['created_before=253402300800', 'value_out_of_range', 'created_before'],
    ['created_before=1.5', 'invalid_type', 'created_before'],
    ['status=failed&status=queued', 'invalid_type', 'status'],
    ['model=a&model=b', 'invalid_type', 'model'],
    ['model=%00', 'invalid_unicode', 'model'],
    ['metadata=a', 'unknown_parameter', 'metadata'],
    ['metadata[a]=1&metadata[a]=2', 'invalid_type', 'metadata[a]'],
    ['metadata[a]=%00', 'invalid_unicode', 'metadata[a]'],
    ['metadata[]=a', 'unknown_parameter', 'metadata[]'],
    ['model[a]=b', 'unknown_parameter', 'model[a]'],
  ])('refuses %s', async (query, code, param) => {
    const { status, body } = await service.api.get<ErrorBody>(`/v1/tasks?${query}`);
    expect({ status, code: body.error.code, param: body.error.param }).toEqual({ status: 400, code, param });
  });

  it("never shows another key's tasks", async () => {
    const other = await service.api.call<{ key: string }>('POST', '/v1/api_keys', { name: 'other' });
    const reply = await fetch(`${service.baseUrl}/v1/tasks`, {
      headers: { authorization: `Bearer ${other.body.key}` },
    });
    expect(((await reply.json()) as Page).data).toEqual([]);
  });

  it('lists concurrent creates by creation time', async () => {
    const burst = await Promise.all(Array.from({ length: 30 }, () => service.api.create(aCat)));
    expect(new Set(burst.map(({ body }) => body.task_id)).size).toBe(30);
    const { data } = await list('limit=30');
    expect(data.map((task) => task.task_id).sort()).toEqual(burst.map(({ body }) => body.task_id).sort());
    expect(data.map((task) => task.created_at)).toEqual(data.map((task) => task.created_at).toSorted((a, b) => b - a));
    await Promise.all(burst.map(({ body }) => service.api.cancel(body.task_id)));
  });
});
