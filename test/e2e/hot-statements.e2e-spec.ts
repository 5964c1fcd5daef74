import { Client, type Pool } from 'pg';
import { DataSource } from 'typeorm';
import { RecordSubmit } from '../../src/tasks/acts/record-submit.ts';
import { aCat, aFailure, aHang, type TaskBody } from '../support/api.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/wait.ts';

/** What each statement may read of these tables, and by which index; nothing else, whatever the planner believes of them. */
const BY_INDEX: Record<string, string[]> = {
  'tasks.create': ['key_load_pkey'],
  'tasks.read': ['tasks_pkey'],
  'tasks.claim': ['tasks_leased', 'tasks_waiting', 'tasks_pkey', 'key_load_pkey'],
  'tasks.record_progress': ['tasks_pkey'],
  'tasks.record_submit_intent': ['tasks_pkey', 'tasks_at_provider'],
  'tasks.renew_leases': ['tasks_pkey'],
  'tasks.end': ['tasks_pkey', 'key_load_pkey'],
  'tasks.wake_parked': ['key_load_pkey', 'tasks_parked_of_key', 'tasks_pkey'],
  'tasks.overdue': ['tasks_due'],
  'tasks.worn_out': ['tasks_leased'],
  'tasks.list': ['tasks_of_key'],
  'tasks.list failed': ['tasks_failed_of_key'],
  'tasks.unfinished_of_keys': ['tasks_unfinished_of_key'],
  'tasks.find_idempotency_keys': ['idempotency_keys_pkey'],
  'webhooks.taken': ['webhook_endpoints_of_key'],
};
const ROWS = 20_000;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Plan[];
}

describe('the statements of the hot path', () => {
  let service: TestApp;
  let pool: Pool;
  const sent = new Map<string, { text: string; values: unknown[] }>();
  const query = Client.prototype.query;

  beforeAll(async () => {
    Client.prototype.query = function (this: Client, ...args: unknown[]): unknown {
      const { name, text, values } = args[0] as { name?: string; text?: string; values?: unknown[] };
      if (name && text) sent.set(name, { text, values: values ?? [] });
      return Reflect.apply(query as (...args: unknown[]) => unknown, this, args);
    } as typeof query;
    service = await startApp({ TASK_HEARTBEAT_S: '0.2', TASK_SWEEP_S: '0.3' });
    pool = (service.app.get(DataSource).driver as unknown as { master: Pool }).master;
    const film = await service.api.create({ model: 'seedance-2', prompt: 'A river', duration: 4 });
    const hang = await service.api.create(aHang);
    await service.api.create(aCat, { 'idempotency-key': 'a', prefer: 'wait=20' });
    await service.api.create(aCat, { 'idempotency-key': 'a' });
    await service.api.create(aFailure, { prefer: 'wait=20' });
    await eventually('progress', async () => (await service.api.get<TaskBody>(`/v1/tasks/${film.body.task_id}`)).body.progress > 0); // prettier-ignore
    await service.api.get('/v1/tasks');
    await service.api.get('/v1/tasks?status=failed');
    const follower = new AbortController();
    await fetch(`${service.baseUrl}/v1/events`, {
      headers: { authorization: `Bearer ${service.api.key}` },
      signal: follower.signal,
    });
    await eventually('the follower', async () => sent.has('tasks.unfinished_of_keys'));
    follower.abort();
    await eventually('the heartbeat', async () => sent.has('tasks.renew_leases'));
    await eventually('the sweep', async () => sent.has('tasks.worn_out'));
    const nobody = { provider: 'openai', url: '', model: '', credential: null, approximations: [], concurrency: null };
    await service.app.get(RecordSubmit).intent({ id: 'none', attempt: 1 }, nobody); // the sandbox costs nothing
    for (const { body } of [film, hang]) await service.api.cancel(body.task_id);
  });
  afterAll(async () => {
    Client.prototype.query = query;
    await service.close();
  });

  const fill = async () => {
    for (const status of ['succeeded', 'queued']) {
      await pool.query(
        `insert into tasks (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, parked, completed_at)
         select $1 || lpad(n::text, 20, '0'), 'key_' || n % 7, 'image', 'gpt-image-2', $1, '{}', now(), now() + interval '30 days',
                now() + interval '1 hour', $1 = 'queued', case when $1 = 'succeeded' then now() end
           from generate_series(1, $2::int) n`,
        [status, ROWS],
      );
    }
  };

  /** As the program plans it once and for all: on a connection of its own, for any values. */
  async function planOf(name: string): Promise<Plan[]> {
    const { text, values } = sent.get(name) ?? {};
    if (!text || !values) throw new Error(`${name} was not sent.`);
    const client = await pool.connect();
    try {
      await client.query('set plan_cache_mode = force_generic_plan');
      await client.query(`prepare hot as ${text}`);
      const nulls = values.length > 0 ? `(${values.map(() => 'null').join(', ')})` : '';
      const { rows } = await client.query(`explain (format json) execute hot${nulls}`);
      return flat((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan);
    } finally {
      client.release(true);
    }
  }

  const steps: [string, () => Promise<unknown>][] = [
    ['while the tables are nearly empty', async () => undefined],
    [`with ${2 * ROWS} rows that were never analysed`, fill],
    [`with ${2 * ROWS} rows, analysed`, () => pool.query('analyze tasks')],
  ];
  describe.each(steps)('%s', (_when, prepare) => {
    beforeAll(prepare);

    it.each(Object.entries(BY_INDEX))('%s goes by its index', async (name, allowed) => {
      const plan = await planOf(name);
      expect(plan.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'])).toEqual([]);
      const used = plan.flatMap((node) => node['Index Name'] ?? []);
      expect(used.filter((index) => !allowed.includes(index))).toEqual([]);
      expect(used.length).toBeGreaterThan(0);
    });
  });
});

function flat(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flat)];
}
