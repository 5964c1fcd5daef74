import { Client, type Pool } from 'pg';
import { DataSource } from 'typeorm';
import { ClaimTasks } from '../../src/tasks/sql/claim-tasks.ts';
import { RecordSubmit } from '../../src/tasks/sql/record-submit.ts';
import { aCat, aFailure, aHang, type TaskBody } from '../support/clients/api.ts';
import { startApp, type TestApp } from '../support/app.ts';
import { eventually } from '../support/wait.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

/** The indexes that each statement may use, whatever statistics the planner has. A sequential scan is never allowed. */
const BY_INDEX: Record<string, string[]> = {
  'tasks.create': ['key_load_pkey'],
  'tasks.create_keyed': ['key_load_pkey'],
  'tasks.read': ['tasks_pkey'],
  'tasks.claim': ['tasks_leased', 'tasks_waiting', 'tasks_pkey', 'key_load_pkey'],
  'tasks.claim_reserved': ['tasks_leased', 'tasks_waiting', 'tasks_pkey', 'key_load_pkey'],
  'tasks.record_progress': ['tasks_pkey'],
  'tasks.record_submit_intent': ['tasks_pkey', 'tasks_at_provider'],
  'tasks.is_provider_full': ['tasks_at_provider'],
  'tasks.renew_leases': ['tasks_pkey'],
  'tasks.end': ['tasks_pkey', 'key_load_pkey'],
  'tasks.wake_parked': ['key_load_pkey', 'tasks_parked_of_key', 'tasks_pkey'],
  'tasks.overdue': ['tasks_due'],
  'tasks.worn_out': ['tasks_leased'],
  'tasks.take_expired_files': ['tasks_files_expiring', 'tasks_pkey'],
  'tasks.take_expired': ['tasks_expiring', 'tasks_pkey'],
  'tasks.list': ['tasks_of_key'],
  'tasks.list failed': ['tasks_failed_of_key'],
  'tasks.unfinished_of_keys': ['tasks_unfinished_of_key'],
  'tasks.find_idempotency_keys': ['idempotency_keys_pkey'],
  'webhooks.taken': ['webhook_endpoints_of_key', 'api_keys_pkey'],
  'webhooks.dispatch': ['webhook_endpoints_of_key'],
  'webhooks.lock_endpoints': ['webhook_endpoints_pkey'],
  'webhooks.claim': [
    'webhook_endpoints_pkey',
    'api_keys_pkey',
    'webhook_dispatches_due',
    'webhook_dispatches_under_way',
    'webhook_dispatches_pkey',
    'webhook_events_pkey',
  ],
  'webhooks.finish': ['webhook_endpoints_pkey', 'webhook_dispatches_pkey', 'webhook_events_pkey'],
  'webhooks.due': ['webhook_dispatches_due', 'webhook_dispatches_under_way', 'webhook_endpoints_pkey', 'api_keys_pkey'],
  'webhooks.lapsed': ['webhook_dispatches_under_way'],
  'webhooks.recover': [
    'webhook_dispatches_given_up',
    'webhook_dispatches_due',
    'webhook_dispatches_pkey',
    'webhook_events_pkey',
  ],
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
  const note = (name: string | undefined, text: string | undefined, values: unknown): void => {
    if (name && text) sent.set(name, { text, values: Array.isArray(values) ? values : [] });
  };

  beforeAll(async () => {
    Client.prototype.query = function (this: Client, ...args: unknown[]): unknown {
      const prepared = args[0] as { name?: string; text?: string; values?: unknown[] } | string;
      if (typeof prepared === 'string') note(nameIn(prepared), prepared, args[1]);
      else note(prepared.name, prepared.text, prepared.values);
      return Reflect.apply(query as (...args: unknown[]) => unknown, this, args);
    } as typeof query;
    service = await startApp({ TASK_HEARTBEAT_S: '0.2', TASK_SWEEP_S: '0.3' });
    pool = (service.app.get(DataSource).driver as unknown as { master: Pool }).master;
    await stopAutovacuum();
    const hooks = new WebhookClient(service.api);
    const endpoint = await hooks.endpoint('http://127.0.0.1:1999/hook');
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
    await eventually('the attempt', async () => sent.has('webhooks.finish'));
    await service.api.call('POST', `/v1/webhook_endpoints/${endpoint.id}/recover`, { since: 1 });
    await eventually('the sweep', async () => sent.has('tasks.worn_out'));
    const place = { provider: 'openai', url: '', model: '', credential: null, approximations: [], concurrency: null };
    await service.app.get(ClaimTasks).claim(1, true, [], ['none']); // sent only by a busy worker
    await service.app.get(RecordSubmit).intent({ id: 'none', attempt: 1 }, place); // the sandbox is free and records none
    await service.app.get(RecordSubmit).isFull({ id: 'none', attempt: 1 }, { ...place, concurrency: 1 });
    for (const { body } of [film, hang]) await service.api.cancel(body.task_id);
  });
  afterAll(async () => {
    Client.prototype.query = query;
    await service.close();
  });

  /**
   * Autovacuum runs after about a minute, which a slow machine reaches in the middle of a step. It would analyse the tables, and
   * the planner would then know more than the step says.
   */
  const stopAutovacuum = () =>
    pool.query(`do $$ declare each regclass; begin
      for each in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
        execute format('alter table %s set (autovacuum_enabled = false)', each);
      end loop;
    end $$`);

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
    await pool.query(
      `with endpoints as (
         insert into webhook_endpoints (id, api_key_id, url, events, description, secret, secret_hint)
         select 'we_' || n, 'key_' || n, 'http://x', '{task.completed}', '', '', '' from generate_series(1, $1::int / 10) n
       ), events as (
         insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
         select 'evt_' || n, 'key_' || n, 'task.completed', '', now(), now() + interval '30 days' from generate_series(1, $1) n
       )
       insert into webhook_dispatches (event_id, endpoint_id, due_at, lease_until)
       select 'evt_' || n, 'we_' || (1 + n % ($1 / 10)), case when n % 5 = 0 then now() end, case when n % 5 = 1 then now() end
       from generate_series(1, $1) n`,
      [ROWS],
    );
  };

  /** The generic plan, which the service caches for any values. The connection is discarded, because it keeps the setting. */
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
    ['while the tables are nearly empty and were never analysed', async () => undefined],
    [`with ${2 * ROWS} rows that were never analysed`, fill],
    [`with ${2 * ROWS} rows, analysed`, () => pool.query('analyze')],
  ];
  describe.each(steps)('%s', (_when, prepare) => {
    beforeAll(prepare);

    it.each(Object.entries(BY_INDEX))('%s uses its index', async (name, allowed) => {
      const plan = await planOf(name);
      expect(plan.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'])).toEqual([]);
      const used = plan.flatMap((node) => node['Index Name'] ?? []);
      expect(used.filter((index) => !allowed.includes(index))).toEqual([]);
      expect(used.length).toBeGreaterThan(0);
    });
  });
});

/** TypeORM's statements are not prepared by name; a comment at their start names them. */
const nameIn = (text: string): string | undefined => /^\/\* ([\w.]+) \*\//.exec(text)?.[1];

function flat(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flat)];
}
