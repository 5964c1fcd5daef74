// Own settings: no worker, so that the tests decide when rows are summed up. Its database has no other rows.
import type { Sql, Statement } from '../../src/platform/database/sql.ts';
import { RollUp } from '../../src/usage/sql/roll-up.ts';
import { Api, type ErrorBody } from '../support/clients/api.ts';
import { GraphqlClient } from '../support/clients/graphql-client.ts';
import { queryOnce } from '../support/faults/watch.ts';
import { type OwnService, startOwnService } from '../support/service.ts';

type Numbers = Record<(typeof NUMBERS)[number], number>;
type Result = Numbers & Record<string, string | number | null>;
interface Bucket {
  start_time: number;
  end_time: number;
  results: Result[];
}
interface Page {
  object: string;
  currency: string;
  as_of: number;
  data: Bucket[];
  totals: Numbers;
  has_more: boolean;
  next_page: string | null;
}
interface Row {
  task_id: string;
  api_key_id: string;
  completed_s: number;
  outcome: string;
  kind: string;
  model: string;
  provider: string | null;
  resolution: string | null;
  metadata: Record<string, string> | null;
  images: number;
  video_seconds: number;
  submits: number;
  cost_micros: number;
  basis: string;
}

const NUMBERS = [
  'tasks',
  'succeeded',
  'failed',
  'cancelled',
  'images',
  'video_seconds',
  'submits',
  'cost_micros',
  'assumed_micros',
  'unpriced_tasks',
] as const;
const unix = (text: string): number => Date.parse(text) / 1000;

describe('GET /v1/usage', () => {
  let service: OwnService;
  let own: string;
  let other: Api;
  let otherId: string;
  const rows: Row[] = [];

  beforeAll(async () => {
    service = await startOwnService({ ROLE: 'api' });
    const viewer = await new GraphqlClient(service.baseUrl, service.api.key!).ask<{ viewer: { id: string } }>(
      '{ viewer { id } }',
    );
    own = viewer.data!.viewer.id;
    const created = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name: 'other' });
    otherId = created.body.id;
    other = new Api(service.baseUrl, created.body.key);
    // Forty days around the end of summer time in Berlin, 2026-10-25.
    for (let nth = 0; nth < 3_000; nth += 1) rows.push(aRow(nth));
    await insert(rows.slice(0, 2_000));
    while ((await rollUp()) > 0);
    await insert(rows.slice(2_000)); // newer than the sums, with earlier times among them
  });
  afterAll(() => service.close());

  const rollUp = () => {
    const run = ({ text }: Statement, values: unknown[]) => queryOnce(service.database.url, text, values);
    return new RollUp({ run } as Sql).next();
  };
  const pick = <Value>(...values: Value[]): Value => values[Math.floor(Math.random() * values.length)]!;

  function aRow(nth: number): Row {
    const kind = pick('image', 'video');
    const outcome = pick('succeeded', 'succeeded', 'failed', 'cancelled');
    const made = outcome === 'succeeded';
    return {
      task_id: `task_${String(nth).padStart(26, '0')}`,
      api_key_id: pick(own, own, otherId),
      completed_s: unix('2026-10-05T00:00Z') + Math.random() * 40 * 86_400,
      outcome,
      kind,
      model: kind === 'image' ? pick('gpt-image-2', 'nano-banana-2') : 'seedance-2',
      provider: pick('openai', 'gemini', null),
      resolution: pick('1K', '2K'),
      metadata: pick<Record<string, string> | null>(
        null,
        { team: pick('a', 'b', 'ü"\\') },
        { team: 'a', job: String(nth) },
        { 'cost, "center"': pick('7', '8'), ['🐈'.repeat(64)]: 'x' },
      ),
      images: made && kind === 'image' ? 2 : 0,
      video_seconds: made && kind === 'video' ? 5 : 0,
      submits: pick(0, 1, 2),
      cost_micros: pick(0, 41_000, 1_000_000_000_001),
      basis: pick('priced', 'reported', 'free', 'assumed', 'unpriced'),
    };
  }

  const insert = (some: Row[]) =>
    queryOnce(
      service.database.url,
      `insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, provider, resolution, source, metadata,
                                 images, video_seconds, submits, cost_micros, basis)
       select task_id, api_key_id, to_timestamp(completed_s), outcome, kind, model, provider, resolution, 'api', metadata,
              images, video_seconds, submits, cost_micros, basis
       from json_to_recordset($1::json) as r(task_id text, api_key_id text, completed_s float8, outcome text, kind text, model text,
         provider text, resolution text, metadata jsonb, images int, video_seconds int, submits int, cost_micros bigint, basis text)`,
      [JSON.stringify(some)],
    );

  const sumOf = (some: Row[]): Numbers => {
    const sum = (value: (row: Row) => number) => some.reduce((total, row) => total + value(row), 0);
    const count = (holds: (row: Row) => boolean) => some.filter(holds).length;
    return {
      tasks: some.length,
      succeeded: count(({ outcome }) => outcome === 'succeeded'),
      failed: count(({ outcome }) => outcome === 'failed'),
      cancelled: count(({ outcome }) => outcome === 'cancelled'),
      images: sum(({ images }) => images),
      video_seconds: sum(({ video_seconds }) => video_seconds),
      submits: sum(({ submits }) => submits),
      cost_micros: sum(({ cost_micros }) => cost_micros),
      assumed_micros: sum(({ basis, cost_micros }) => (basis === 'assumed' ? cost_micros : 0)),
      unpriced_tasks: count(({ basis }) => basis === 'unpriced'),
    };
  };

  const numbersOf = (result: Numbers): Numbers =>
    Object.fromEntries(NUMBERS.map((name) => [name, result[name]])) as Numbers;

  const groupOf = (row: Row, name: string): string | null =>
    name.startsWith('metadata.')
      ? (row.metadata?.[name.slice(9)] ?? null)
      : ((row as unknown as Record<string, string>)[name] ?? null);

  /** Compares every bucket and group of a page with the rows themselves. */
  function expectExact(page: Page, of: Row[], groups: string[]): void {
    for (const { start_time, end_time, results } of page.data) {
      const inBucket = of.filter(({ completed_s }) => completed_s >= start_time && completed_s < end_time);
      const expected = Object.entries(
        Object.groupBy(inBucket, (row) => JSON.stringify(groups.map((name) => groupOf(row, name)))),
      ).map(([key, members]) => [key, sumOf(members!)]);
      const got = results.map((result) => [JSON.stringify(groups.map((name) => result[name])), numbersOf(result)]);
      expect(Object.fromEntries(got)).toEqual(Object.fromEntries(expected));
    }
  }

  const usage = (query: Record<string, string | number | undefined>, api: Api = service.api) =>
    api.get<Page>(
      `/v1/usage?${new URLSearchParams(Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])))}`,
    );

  it.each([
    ['day', { bucket_width: '1d', limit: 60 }, []],
    ['day in Berlin and model', { timezone: 'Europe/Berlin', limit: 60 }, ['model']],
    ['month in Kathmandu', { bucket_width: '1M', timezone: 'Asia/Kathmandu' }, ['kind', 'provider', 'resolution']],
    ['metadata', { bucket_width: '1M', timezone: 'America/New_York' }, ['model', 'metadata.team']],
    ['unique metadata', { bucket_width: 'all' }, ['metadata.job']],
  ] as const)('adds up by %s what the ledger holds', async (_by, query, groups) => {
    const group_by = groups.length > 0 ? { group_by: groups.join(',') } : {};
    for (const [from, to] of [
      ['2026-10-05T00:00Z', '2026-11-20T00:00Z'],
      ['2026-10-07T11:22:33Z', '2026-11-11T22:33:44Z'],
      ['2026-10-25T00:07:00Z', '2026-10-25T00:08:30Z'],
    ] as const) {
      const range = { start_time: unix(from), end_time: unix(to) };
      const { status, body } = await usage({ ...query, ...group_by, ...range });
      expect(status).toBe(200);
      const mine = rows.filter(({ api_key_id }) => api_key_id === own);
      expectExact(body, mine, [...groups]);
      const inRange = mine.filter(({ completed_s }) => completed_s >= range.start_time && completed_s < range.end_time);
      expect(body.totals).toEqual(sumOf(inRange));
      expect([body.data[0]!.start_time, body.data.at(-1)!.end_time]).toEqual([range.start_time, range.end_time]);
    }
  });

  it('shows the hour that summer time repeats, and the day of 25 hours', async () => {
    const range = {
      start_time: unix('2026-10-24T22:00Z'),
      end_time: unix('2026-10-25T23:00Z'),
      timezone: 'Europe/Berlin',
    };
    const days = await usage(range);
    expect(days.body.data.map(({ start_time, end_time }) => end_time - start_time)).toEqual([25 * 3600]);
    const hours = await usage({ ...range, bucket_width: '1h' });
    expect(hours.body.data).toHaveLength(25);
    expectExact(
      hours.body,
      rows.filter(({ api_key_id }) => api_key_id === own),
      [],
    );
  });

  it('gives pages, whose totals cover the whole range, and shows empty buckets', async () => {
    const range = { start_time: unix('2026-09-01T00:00Z'), end_time: unix('2026-12-01T00:00Z') };
    const pages: Page[] = [];
    for (let page: string | null = ''; page !== null; page = pages.at(-1)!.next_page) {
      const { body } = await usage({ ...range, limit: 40, ...(page && { page }) });
      pages.push(body);
    }
    expect(pages.map(({ data, has_more }) => [data.length, has_more])).toEqual([
      [40, true],
      [40, true],
      [11, false],
    ]);
    const buckets = pages.flatMap(({ data }) => data);
    buckets.slice(1).forEach(({ start_time }, at) => expect(start_time).toBe(buckets[at]!.end_time));
    expect(buckets[0]!.results).toEqual([]);
    for (const { totals } of pages) expect(totals).toEqual(sumOf(rows.filter(({ api_key_id }) => api_key_id === own)));
    expect(pages[0]!.totals.tasks).toBe(
      buckets.flatMap(({ results }) => results).reduce((sum, { tasks }) => sum + tasks, 0),
    );
  });

  it('shows all keys to a key that manages keys, and to no other', async () => {
    const range = { start_time: unix('2026-10-01T00:00Z'), end_time: unix('2026-12-01T00:00Z'), bucket_width: 'all' };
    const all = await usage({ ...range, api_key_id: 'all', group_by: 'api_key_id' });
    expectExact(all.body, rows, ['api_key_id']);
    const one = await usage({ ...range, api_key_id: otherId });
    expect(one.body.totals).toEqual(sumOf(rows.filter(({ api_key_id }) => api_key_id === otherId)));
    expect((await usage(range, other)).body.totals).toEqual(one.body.totals);
    expect((await usage({ ...range, api_key_id: otherId }, other)).status).toBe(200);
    for (const api_key_id of ['all', own]) expect((await usage({ ...range, api_key_id }, other)).status).toBe(403);
  });

  it('stays exact while rows are rolled up and others arrive with earlier times', async () => {
    const range = { start_time: unix('2026-10-01T00:00Z'), end_time: unix('2026-12-01T00:00Z'), bucket_width: '1M' };
    const mine = () => rows.filter(({ api_key_id }) => api_key_id === own).length;
    const before = mine();
    const late = Array.from({ length: 400 }, (_, nth) => ({ ...aRow(10_000 + nth), api_key_id: own }));
    const ended = new AbortController();
    const rollingUp = (async () => {
      while (!ended.signal.aborted) await Promise.all([rollUp(), rollUp()]);
    })();
    for (const part of [late.slice(0, 130), late.slice(130, 270), late.slice(270)]) {
      rows.push(...part);
      await insert(part);
      expect((await usage(range)).body.totals.tasks).toBe(mine());
    }
    expect(mine()).toBe(before + 400);
    ended.abort();
    await rollingUp;
    while ((await rollUp()) > 0);
    expect(
      await queryOnce(service.database.url, 'select task_id from usage_ledger where not rolled_up limit 1'),
    ).toEqual([]);
    const { body } = await usage(range);
    expectExact(
      body,
      rows.filter(({ api_key_id }) => api_key_id === own),
      [],
    );
    const [sums] = await queryOnce(
      service.database.url,
      `select (select sum(tasks) from usage_sums where span = 'day')::int as days, count(*)::int as rows,
              (select sum(tasks) from usage_sums where span = 'quarter' and metadata_key = '')::int as quarters from usage_ledger`,
    );
    expect(sums).toEqual({ days: rows.length, quarters: rows.length, rows: rows.length });
  });

  it('has the same fields in GraphQL', async () => {
    const { data, errors } = await new GraphqlClient(service.baseUrl, service.api.key!).ask<{ usage: unknown }>(
      `{ usage(startTime: ${unix('2026-10-01T00:00Z')}, endTime: ${unix('2026-12-01T00:00Z')}, bucketWidth: "1M",
          groupBy: ["kind", "metadata.team"], timezone: "UTC", limit: 1) {
          currency asOf hasMore nextPage totals { tasks costMicros }
          data { object startTime endTime results { object kind model metadata tasks succeeded costMicros assumedMicros } } } }`,
    );
    expect(errors).toBeUndefined();
    const query = { start_time: unix('2026-10-01T00:00Z'), end_time: unix('2026-12-01T00:00Z'), bucket_width: '1M' };
    const { body } = await usage({ ...query, group_by: 'kind,metadata.team', limit: 1 });
    expect(data!.usage).toEqual({
      currency: 'USD',
      asOf: expect.any(Number),
      hasMore: true,
      nextPage: body.next_page,
      totals: { tasks: body.totals.tasks, costMicros: body.totals.cost_micros },
      data: body.data.map(({ start_time, end_time, results }) => ({
        object: 'bucket',
        startTime: start_time,
        endTime: end_time,
        results: results.map((result) => ({
          object: 'usage.result',
          kind: result.kind,
          model: null,
          metadata: { team: result['metadata.team'] },
          tasks: result.tasks,
          succeeded: result.succeeded,
          costMicros: result.cost_micros,
          assumedMicros: result.assumed_micros,
        })),
      })),
    });
  });

  it('groups by a metadata key that contains commas and quotes, or 64 emoji: quoted as in CSV, a name each in GraphQL', async () => {
    const range = { start_time: unix('2026-10-05T00:00Z'), end_time: unix('2026-11-20T00:00Z'), bucket_width: 'all' };
    const mine = rows.filter(({ api_key_id }) => api_key_id === own);
    const field = 'metadata.cost, "center"';
    const { body } = await usage({ ...range, group_by: `model, "metadata.cost, ""center""" ,kind` });
    expect(new Set(body.data[0]!.results.map((result) => result[field]))).toEqual(new Set(['7', '8', null]));
    expectExact(body, mine, ['model', field, 'kind']);
    const cats = `metadata.${'🐈'.repeat(64)}`;
    expectExact((await usage({ ...range, group_by: cats })).body, mine, [cats]);
    const { data } = await new GraphqlClient(service.baseUrl, service.api.key!).ask<{
      usage: { data: { results: { metadata: object; tasks: number }[] }[] };
    }>(
      `query ($names: [String!]) { usage(startTime: ${range.start_time}, endTime: ${range.end_time}, bucketWidth: "all", groupBy: $names) {
          data { results { metadata tasks } } } }`,
      { names: [field] },
    );
    const alone = await usage({ ...range, group_by: '"metadata.cost, ""center"""' });
    expect(data!.usage.data[0]!.results).toEqual(
      alone.body.data[0]!.results.map(({ tasks, ...result }) => ({
        metadata: { [field.slice(9)]: result[field] },
        tasks,
      })),
    );
  });

  it('takes group_by repeated, too', async () => {
    const { body } = await service.api.get<Page>(
      `/v1/usage?start_time=1700000000&bucket_width=all&group_by=model&group_by=kind`,
    );
    expect(body.data[0]!.results.length).toBeGreaterThan(2);
  });

  it.each([
    ['', 'missing_required_parameter', 'start_time', /start_time/],
    ['start_time=-1', 'value_out_of_range', 'start_time', /0/],
    ['start_time=5&end_time=5', 'invalid_value', 'end_time', /later than start_time, which is 5/],
    ['start_time=5&timezone=Mars/Olympus', 'invalid_value', 'timezone', /IANA name.*Mars\/Olympus/],
    ['start_time=5&timezone=%2B05:45', 'invalid_value', 'timezone', /IANA/],
    ['start_time=5&bucket_width=1w', 'invalid_value', 'bucket_width', /1h, 1d, 1M, all/],
    ['start_time=5&limit=401', 'value_out_of_range', 'limit', /400/],
    ['start_time=5&limit=0', 'value_out_of_range', 'limit', /1/],
    ['start_time=5&group_by=colour', 'invalid_value', 'group_by', /model, kind, provider.*colour/],
    ['start_time=5&group_by=metadata.a,metadata.b', 'invalid_value', 'group_by', /one metadata key/],
    ['start_time=5&group_by=metadata.', 'invalid_value', 'group_by', /metadata/],
    ['start_time=5&group_by=metadata.a,b', 'invalid_value', 'group_by', /"b"/],
    ['start_time=5&group_by=%22metadata.a,b', 'invalid_value', 'group_by', /metadata/],
    [`start_time=5&group_by=metadata.${'a'.repeat(65)}`, 'invalid_value', 'group_by', /metadata/],
    ['start_time=5&group_by=model,', 'invalid_value', 'group_by', /metadata/],
    ['start_time=5&api_key_id=key_x', 'invalid_value', 'api_key_id', /all/],
    ['start_time=5&page=7', 'invalid_value', 'page', /next_page/],
    ['start_time=5&page=page_1', 'invalid_value', 'page', /page/],
    ['start_time=5&days=7', 'unknown_parameter', 'days', /days/],
    ['start_time=5&start_time=6', 'invalid_type', 'start_time', /once/],
  ])('refuses ?%s with %s', async (query, code, param, message) => {
    const { status, body } = await service.api.get<ErrorBody>(`/v1/usage?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
    expect(body.error.message).toMatch(message);
  });
});
