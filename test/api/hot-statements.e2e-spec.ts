// Inside Jest: it reads the statements that the service sends, the plans of GraphQL, and sends rare ones itself.
// The entities that the service registers are compared with the same database.
import { Client, type Pool, type PoolClient } from 'pg';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import { getOperationAST, parse } from 'graphql';
import { DataSource, type EntityMetadata } from 'typeorm';
import { planOf as planOfDocument } from '../../src/platform/graphql/query-plan.ts';
import { ChangedTasks } from '../../src/tasks/sql/changed-tasks.ts';
import { ClaimTasks } from '../../src/tasks/sql/claim-tasks.ts';
import { fewOfFilter, restOfMatches, withWords } from '../../src/tasks/sql/match-tasks.ts';
import { FillWords } from '../../src/tasks/sql/fill-words.ts';
import { HoldTask } from '../../src/tasks/sql/hold-task.ts';
import { PauseTasks } from '../../src/tasks/sql/pause-tasks.ts';
import { PurgeRows } from '../../src/tasks/sql/purge-rows.ts';
import { ReadTasks } from '../../src/tasks/sql/read-tasks.ts';
import { RecordSubmit } from '../../src/tasks/sql/record-submit.ts';
import { TakeLeases } from '../../src/tasks/sql/take-leases.ts';
import { WatchTasks } from '../../src/operations/tasks/sql/watch-tasks.ts';
import { type TaskFilter } from '../../src/tasks/record/task-filter.ts';
import { EventsOfKey } from '../../src/webhooks/events/events-of-key.ts';
import { NewDeliveries } from '../../src/webhooks/sql/new-deliveries.ts';
import { PurgeEvents } from '../../src/webhooks/sql/purge-events.ts';
import { ReplayEvents } from '../../src/webhooks/sql/replay-events.ts';
import { Metrics } from '../../src/platform/observe/measuring/metrics.ts';
import { RollUp } from '../../src/usage/sql/roll-up.ts';
import { aCat, aFailure, aHang, Api, type TaskBody } from '../support/clients/api.ts';
import { startInProcess, type InProcess } from '../support/in-process.ts';
import { eventually } from '../support/wait.ts';
import { BatchClient } from '../support/clients/batches.ts';
import { WebhookClient } from '../support/clients/webhook-client.ts';

/** The indexes that each statement may use, whatever statistics the planner has. A sequential scan is never allowed. */
const BY_INDEX: Record<string, string[]> = {
  'tasks.create': ['line_pkey', 'key_load_pkey'],
  'tasks.create_reserved': ['line_pkey', 'key_load_pkey', 'key_budgets_pkey', 'idempotency_keys_pkey'],
  'tasks.reserve_budget': ['key_load_pkey', 'key_budgets_pkey', 'tasks_live_pkey'],
  'tasks.read': ['tasks_live_pkey', 'tasks_done_pkey'],
  'tasks.read_stored': ['tasks_live_pkey', 'tasks_done_pkey'],
  'tasks.ended_of': ['tasks_done_pkey'],
  'tasks.take_leases': ['tasks_live_pkey'],
  'tasks.files_purged': ['tasks_done_pkey'],
  'tasks.delete_expired': ['tasks_done_pkey'],
  'tasks.delete': ['tasks_done_pkey'],
  'tasks.claim': [
    'line_pkey',
    'pauses_open',
    'tasks_live_leased',
    'tasks_live_waiting',
    'tasks_live_pkey',
    'key_load_pkey',
  ],
  'tasks.claim_reserved': [
    'pauses_open',
    'tasks_live_leased',
    'tasks_live_waiting',
    'tasks_live_pkey',
    'key_load_pkey',
  ],
  'tasks.record_progress': ['tasks_live_pkey'],
  'tasks.record_submit_intents': ['tasks_live_pkey'],
  'tasks.record_limited_intent': ['tasks_live_pkey', 'tasks_live_leased'],
  'tasks.is_provider_full': ['tasks_live_leased'],
  'tasks.count_at_addresses': ['tasks_live_leased'],
  'tasks.renew_leases': ['tasks_live_pkey'],
  'tasks.hold': ['tasks_live_pkey', 'key_load_pkey'],
  'tasks.end': ['tasks_live_pkey', 'usage_ledger_pkey'],
  'tasks.count_ended': ['key_load_pkey'],
  'tasks.settle_ended': ['key_budgets_pkey'],
  'tasks.wake_parked': ['key_load_pkey', 'tasks_live_held', 'tasks_live_pkey'],
  'tasks.keys_with_parked': ['key_load_pkey', 'tasks_live_held'],
  'tasks.read_pauses': ['pauses_open'],
  'tasks.wake_paused': ['pauses_open', 'tasks_live_paused', 'tasks_live_pkey'],
  'tasks.release_pauses': ['pauses_open', 'tasks_live_paused'],
  'tasks.overdue': ['tasks_live_due'],
  'tasks.worn_out': ['tasks_live_leased'],
  'tasks.take_expired_files': ['tasks_done_files', 'tasks_done_pkey'],
  'tasks.take_expired': ['tasks_done_expiring', 'tasks_done_pkey'],
  'tasks.list': ['tasks_live_of_key', 'tasks_done_of_key'],
  'tasks.list failed': ['tasks_done_failed', 'tasks_done_of_key'],
  'tasks.match 2000 model': ['tasks_live_of_key', 'tasks_done_of_key'],
  'tasks.match 2000 from to words': ['tasks_live_of_key', 'tasks_done_of_key'],
  'tasks.match_rest model': ['tasks_live_of_key', 'tasks_done_facets'],
  'tasks.match_rest by': ['tasks_live_of_key', 'tasks_done_facets'],
  'tasks.match_rest meta': ['tasks_live_metadata', 'tasks_done_metadata'],
  'tasks.match_rest failed err': ['tasks_done_errors'],
  'tasks.match_few model words': ['tasks_live_of_key', 'tasks_done_facets'],
  'tasks.match_few by words': ['tasks_live_of_key', 'tasks_done_facets'],
  'tasks.match_few meta words': ['tasks_live_metadata', 'tasks_done_metadata'],
  'tasks.match_few failed err words': ['tasks_done_errors'],
  'tasks.count': ['tasks_live_of_key', 'tasks_done_of_key'],
  'tasks.list batch': ['tasks_live_of_key', 'tasks_done_of_key', 'tasks_live_of_batch', 'tasks_done_of_batch'],
  'tasks.create_batch': ['line_pkey', 'key_load_pkey'],
  'tasks.count_batch': ['line_pkey', 'key_load_pkey'],
  'tasks.final_of_batch': ['tasks_done_of_batch'],
  'tasks.unfinished_of_batch': ['tasks_live_of_batch'],
  'batches.find': ['batches_pkey', 'tasks_live_of_batch', 'tasks_done_of_batch', 'usage_ledger_pkey'],
  'batches.list': ['batches_pkey', 'batches_of_key', 'tasks_live_of_batch', 'tasks_done_of_batch', 'usage_ledger_pkey'],
  'batches.invalid_items': ['batches_with_invalid_items'],
  'batches.has_unfinished': ['tasks_live_of_batch'],
  'batches.end': ['batches_pkey', 'batches_unfinished', 'tasks_live_of_batch', 'tasks_done_of_batch'],
  'batches.left_behind': ['batches_unfinished', 'tasks_live_of_batch'],
  'tasks.unfinished model': ['tasks_live_of_key'],
  'tasks.list of': ['tasks_live_of_key', 'tasks_done_of_parent'],
  'tasks.list_children': ['tasks_live_of_key', 'tasks_done_of_parent'],
  'tasks.read_outcomes': ['pace_samples_pkey'],
  'tasks.read_line': ['tasks_live_waiting'],
  'tasks.read_places': ['tasks_live_pkey', 'tasks_done_pkey'],
  'tasks.read_next_place': ['line_pkey', 'key_load_pkey'],
  'tasks.read_timelines': ['tasks_live_pkey', 'tasks_done_pkey'],
  'tasks.read_starts': ['pace_samples_pkey'],
  'tasks.unfinished_of_keys': ['tasks_live_of_key'],
  'tasks.find_idempotency_keys': ['idempotency_keys_pkey'],
  'calls.join': ['calls_joinable', 'calls_pkey', 'tasks_done_pkey'],
  'calls.join_equal': ['calls_joinable', 'calls_pkey', 'tasks_done_pkey'],
  'calls.give_up': ['calls_joinable'],
  'calls.attach': ['calls_pkey'],
  'calls.deliver': ['calls_pkey'],
  'usage.roll_up': ['usage_ledger_new', 'usage_ledger_pkey', 'usage_sums_pkey', 'usage_values_pkey'],
  'usage.read one': ['usage_sums_pkey', 'usage_ledger_new', 'usage_ledger_completed'],
  'usage.read all': ['usage_sums_by_time', 'usage_ledger_new', 'usage_ledger_completed'],
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
  'webhooks.recover given up': ['webhook_dispatches_given_up', 'webhook_dispatches_pkey', 'webhook_events_pkey'],
  'webhooks.recover failing': ['webhook_dispatches_due', 'webhook_dispatches_pkey', 'webhook_events_pkey'],
  'webhooks.redeliver': [
    'webhook_events_pkey',
    'webhook_endpoints_pkey',
    'webhook_endpoints_of_key',
    'webhook_dispatches_pkey',
  ],
  'webhooks.list': ['webhook_deliveries_of_endpoint', 'webhook_events_pkey'],
  'webhooks.list_of_event': ['webhook_deliveries_pkey', 'webhook_events_pkey'],
  'webhooks.list_of_tasks': ['webhook_events_of_task', 'webhook_deliveries_pkey'],
  'webhooks.new_deliveries': ['webhook_endpoints_of_key', 'webhook_deliveries_of_endpoint'],
  'webhooks.read_deliveries': ['webhook_deliveries_of_endpoint', 'webhook_events_pkey'],
  'webhooks.replay': [
    'webhook_replays_running',
    'webhook_replays_pkey',
    'webhook_events_pkey',
    'webhook_dispatches_pkey',
    'webhook_endpoints_pkey',
  ],
  'webhooks.see_events': ['webhook_events_pkey'],
  'webhooks.purge': [
    'webhook_events_expiring',
    'webhook_events_pkey',
    'webhook_dispatches_pkey',
    'webhook_deliveries_pkey',
  ],
  'tasks.match_words 1 words': [
    'tasks_done_of_key',
    'tasks_live_of_key',
    'tasks_done_ended',
    'tasks_done_pkey',
    'task_words_gin',
    'words_state_pkey',
  ],
};
/** Pages in the order of the list. */
const PAGES = ['tasks.list', 'tasks.match 2000 model', 'tasks.match 2000 from to words'];
/** Their status tells the planner in which table they are. */
const OF_ONE_TABLE = {
  'tasks.list failed': 'tasks_done',
  'tasks.unfinished model': 'tasks_live',
  'tasks.watch_all': 'tasks_live',
};
/** They write many tasks, and hold all of them meanwhile. */
const WRITES = ['tasks.record_progress', 'tasks.record_submit_intents', 'tasks.renew_leases', 'tasks.end'];
const CLAIMS = ['tasks.claim', 'tasks.claim_reserved'];
/** Primary keys of tables with a few rows: each may be read whole. */
const SMALL = /^(line|words_state|webhook_replays|key_load|idempotency_keys)_pkey$/;
const ROWS = 20_000;

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Index Cond'?: string;
  'Join Filter'?: string;
  Plans?: Plan[];
}

/** Tables of TypeORM itself. */
const BOOKKEEPING = ['schema_migrations'];
interface Table {
  columns: Record<string, string>;
  primaryKey: string[];
}

describe('the statements of the hot path', () => {
  let service: InProcess;
  let pool: Pool;
  /** Explains with the settings of the pool, and keeps what the planner reads of the tables. */
  let planner: PoolClient;
  const sent = new Map<string, { text: string; values: unknown[] }>();
  /** The names under which connections keep statements. */
  const kept = new Set<string>();
  const query = Client.prototype.query;
  const note = (name: string | undefined, text: string | undefined, values: unknown): void => {
    if (name && text) sent.set(name, { text, values: Array.isArray(values) ? values : [] });
  };

  beforeAll(async () => {
    Client.prototype.query = function (this: Client, ...args: unknown[]): unknown {
      const prepared = args[0] as { name?: string; text?: string; values?: unknown[] } | string;
      if (typeof prepared === 'string') note(nameIn(prepared), prepared, args[1]);
      else {
        if (prepared.name) kept.add(prepared.name);
        note(prepared.name ?? nameIn(prepared.text ?? ''), prepared.text, prepared.values);
      }
      return Reflect.apply(query as (...args: unknown[]) => unknown, this, args);
    } as typeof query;
    service = await startInProcess({ TASK_HEARTBEAT_S: '0.2', TASK_SWEEP_S: '0.3' });
    pool = (service.app.get(DataSource).driver as unknown as { master: Pool }).master;
    planner = await pool.connect();
    await planner.query('set plan_cache_mode = force_generic_plan');
    await stopAutovacuum();
    const hooks = new WebhookClient(service.api);
    const endpoint = await hooks.endpoint('http://127.0.0.1:1999/hook');
    const film = await service.api.create({ model: 'seedance-2', prompt: 'A river', duration: 4 });
    const hang = await service.api.create(aHang);
    const cat = await service.api.create(aCat, { 'idempotency-key': 'a', prefer: 'wait=20' });
    await service.api.create(aCat, { 'idempotency-key': 'a' });
    await service.api.create(aFailure, { prefer: 'wait=20' });
    const budgeted = await createWithBudget();
    for (const headers of [{}, { 'x-stainless-retry-count': '1' }])
      await service.api.call('POST', '/v1/images/generations', aFailure, headers);
    const gaveUp = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
    await service.api.call('POST', '/mcp', gaveUp);
    await eventually('progress', async () => (await service.api.get<TaskBody>(`/v1/tasks/${film.body.task_id}`)).body.progress > 0); // prettier-ignore
    await service.api.get('/v1/tasks');
    await service.api.get('/v1/tasks?status=failed');
    await service.api.get('/v1/tasks?model=sora-2');
    await service.api.get('/v1/tasks?search=cat&created_after=1&created_before=2000000000');
    // Sent only for a key with more tasks than are compared before.
    for (const filter of [
      { model: 'sora-2' },
      { source: 'mcp' },
      { metadata: { a: 'b' } },
      { error_code: 'worker_lost' },
      { cancelled: true },
    ] satisfies TaskFilter[]) {
      const search = { apiKeyId: 'none', after: null, order: 'desc' as const, wanted: 21 };
      for (const { statement, values } of [
        restOfMatches({ ...search, filter }),
        fewOfFilter({ ...search, filter: { ...filter, search: 'cat' } }),
      ]) {
        note(statement.name, statement.text, values);
      }
    }
    while (await service.app.get(FillWords).fill());
    const search = { apiKeyId: 'none', after: null, order: 'desc' as const, wanted: 21, filter: { search: 'cat' } };
    const { statement, values } = withWords(search, ['cat']);
    note(statement.name, statement.text, values);
    await service.api.get('/v1/tasks/counts');
    await service.api.get(`/v1/tasks?parent_task_id=${hang.body.task_id}`);
    for (const part of ['estimate', 'timeline']) await service.api.get(`/v1/tasks/${hang.body.task_id}/${part}`);
    await service.api.get('/v1/models');
    const children = `{ task(taskId: "${hang.body.task_id}") { children { edges { cursor } } } }`;
    await service.api.call('POST', '/graphql', { query: children });
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
    await service.api.get('/v1/usage?start_time=1700000000&bucket_width=1M&limit=400');
    await service.api.get('/v1/usage?start_time=1700000000&bucket_width=1M&limit=400&api_key_id=all');
    await service.app.get(RollUp).next();
    await service.app.get(PauseTasks).wake(false); // sent every few seconds; this test may be faster
    await service.app.get(PauseTasks).release();
    await service.app.get(HoldTask).hold({ id: 'none', attempt: 1 }); // no provider is full
    await service.api.call('POST', '/v1/tasks/cancel', { filter: { model: 'none' } });
    await service.app.get(ReadTasks).findStored('none'); // sent only for changes by other processes
    await service.api.call('DELETE', `/v1/tasks/${(await service.api.create(aFailure)).body.task_id}`);
    await eventually('the sweep', async () => sent.has('tasks.worn_out'));
    const batches = new BatchClient(service.api);
    const batch = await batches.of([aFailure, aFailure]);
    await batches.untilEnded(batch.id);
    await batches.create({ on_invalid: 'skip', requests: [{ body: {} }] });
    await batches.results(batch.id);
    await batches.tasks(batch.id);
    await batches.cancel((await batches.of([aHang])).id);
    expect(sent.has('tasks.reserve_budget')).toBe(false);
    await new BatchClient(budgeted).of([aFailure]);
    await service.api.call('POST', '/v1/estimates', aCat);
    await service.api.get('/v1/batches');
    await eventually('the sweep of batches', async () => sent.has('batches.left_behind'));
    const ids = [hang.body.task_id];
    await service.app.get(ChangedTasks).endedOf(ids);
    await service.app.get(WatchTasks).read(ids, { models: [], seconds: [] });
    await service.app.get(WatchTasks).list({}, { models: [], seconds: [] }, { after: null, limit: 1 });
    await service.app.get(TakeLeases).take(['none']);
    await service.app.get(PurgeRows).filesPurged(['none']);
    await service.app.get(PurgeRows).delete(['none']);
    await service.app.get(PurgeRows).deleteUnnamedVersions();
    const place = { provider: 'openai', url: '', model: '', credential: null, concurrency: null };
    await service.app.get(ClaimTasks).claim(1, Date.now(), [], ['none']); // sent only by a busy worker
    for (const concurrency of [null, 1]) {
      const submission = { ...place, concurrency, approximations: [], price: null, calls: 1 };
      await service.app.get(RecordSubmit).intent({ id: 'none', attempt: 1 }, submission, null); // the sandbox is free and records none
    }
    await readDeliveries(endpoint.id, cat.body.task_id);
    await service.app.get(PurgeEvents).run();
    await service.app.get(ReplayEvents).step();
    await service.app.get(RecordSubmit).isFull({ id: 'none', attempt: 1 }, { ...place, concurrency: 1 });
    await service.app.get(RecordSubmit).tasksAt('ink', 'openai', ['']); // only models at several addresses count
    for (const { body } of [film, hang]) await service.api.cancel(body.task_id);
  });
  afterAll(async () => {
    Client.prototype.query = query;
    planner?.release(true);
    await service?.close();
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

  const readDeliveries = async (endpointId: string, taskId: string) => {
    const { data } = await new WebhookClient(service.api).deliveries(endpointId);
    const found = data.map(({ id }: { id: string }) => ({ id, endpoint_id: endpointId, api_key_id: '' }));
    await service.api.get(`/v1/webhook_events/${data[0].event_id}`);
    await service.api.call('POST', `/v1/webhook_events/${data[0].event_id}/redeliver`);
    await service.app.get(NewDeliveries).since(['none'], Date.now());
    await service.app.get(NewDeliveries).read(found);
    await service.app.get(EventsOfKey).ids('none').next();
    const query = `{ task(taskId: "${taskId}") { webhookDeliveries { id } } }`;
    await service.api.call('POST', '/graphql', { query });
  };

  /** Keys without a budget send none of its statements. */
  const createWithBudget = async (): Promise<Api> => {
    expect([...sent.keys()].filter((name) => name.includes('reserved'))).toEqual([]);
    const { body } = await service.api.call<{ key: string }>('POST', '/v1/api_keys', {
      name: 'budgeted',
      limits: { budget: { amount_micros: 1, period: 'day' } },
    });
    const budgeted = new Api(service.baseUrl, body.key);
    await budgeted.create(aFailure, { prefer: 'wait=20' });
    await budgeted.create(aFailure, { 'idempotency-key': 'a', prefer: 'wait=20' });
    return budgeted;
  };

  const fill = async () => {
    for (const status of ['succeeded', 'queued']) {
      await pool.query(
        `insert into ${status === 'queued' ? 'tasks_live' : 'tasks_done'} (id, api_key_id, kind, model, status, input, created_at, expires_at,
                deadline_at, batch_id, batch_index, ${status === 'queued' ? 'parked, waits' : 'completed_at'})
         select $1 || lpad(n::text, 20, '0'), 'key_' || n % 7, 'image', 'gpt-image-2', $1, json_build_object('prompt', repeat(md5(n::text), 20)), now(), now() + interval '30 days',
                now() + interval '1 hour', case when n % 4 = 0 then 'batch_' || n % 37 end, n, ${status === 'queued' ? 'true, false' : 'now()'}
           from generate_series(1, $2::int) n`,
        [status, ROWS],
      );
    }
    await pool.query(
      `insert into key_budgets (api_key_id, amount_micros, period, day)
       select 'key_' || n, 1, 'day', current_date from generate_series(1, $1::int) n`,
      [ROWS],
    );
    await pool.query(
      `insert into batches (id, api_key_id, endpoint, metadata, total, created_at, ended_at, kept_until)
       select 'batch_' || n, 'key_' || n % 7, '/v1/generations', '{}', 1, now(), case when n % 50 > 0 then now() end,
              now() + interval '30 days' from generate_series(1, $1::int) n`,
      [ROWS],
    );
    await pool.query(
      `insert into calls (id, api_key_id, path, fingerprint)
       select 'call_' || n, 'key_' || n % 7, '/', decode(md5((n % 100)::text), 'hex') from generate_series(1, $1::int) n`,
      [ROWS],
    );
    await pool.query(
      `insert into usage_ledger (task_id, api_key_id, completed_at, outcome, kind, model, source, images, video_seconds, submits,
                                 cost_micros, basis, rolled_up)
       select 'task_' || n, 'key_' || n % 7, now() - n * interval '1 minute', 'succeeded', 'image', 'gpt-image-2', 'api', 1, 0, 1,
              1, 'priced', n > 500 from generate_series(1, $1::int) n`,
      [ROWS],
    );
    await pool.query(
      `insert into usage_sums (api_key_id, span, starts_at, dimensions, kind, model, source, tasks, succeeded, failed, cancelled,
                               images, video_seconds, submits, cost_micros, assumed_micros, unpriced_tasks)
       select 'key_' || n % 7, span, date_trunc('day', now()) - n * interval '15 minutes', md5(n::text)::uuid, 'image', 'gpt-image-2',
              'api', 1, 1, 0, 0, 1, 0, 1, 1, 0, 0
         from generate_series(1, $1::int) n cross join (values ('quarter'), ('day')) s(span)`,
      [ROWS],
    );
    await pool.query(
      `with endpoints as (
         insert into webhook_endpoints (id, api_key_id, url, events, description, secret, secret_hint)
         select 'we_' || n, 'key_' || n, 'http://x', '{task.completed}', '', '', '' from generate_series(1, $1::int / 10) n
       ), events as (
         insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
         select 'evt_00' || lpad(n::text, 24, '0'), 'key_' || n, 'task.completed', '', now(), now() + interval '30 days' from generate_series(1, $1) n
       )
       insert into webhook_dispatches (event_id, endpoint_id, due_at, lease_until)
       select 'evt_00' || lpad(n::text, 24, '0'), 'we_' || (1 + n % ($1 / 10)), case when n % 5 = 0 then later end, case when n % 5 = 1 then later end
       from generate_series(1, $1) n, (select now() + interval '1 day') l(later)`, // what is due now would be sent meanwhile, and the tables grow
      [ROWS],
    );
  };

  /** The generic plan, which the service caches for any values. */
  async function planOf(name: string): Promise<Plan[]> {
    const { text, values } = sent.get(name) ?? {};
    if (!text || !values) throw new Error(`${name} was not sent.`);
    await planner.query(`prepare hot as ${text}`);
    try {
      const given = values.length > 0 ? `(${values.map(() => 'null').join(', ')})` : '';
      const { rows } = await planner.query(`explain (format json) execute hot${given}`);
      return flat((rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan);
    } finally {
      await planner.query('deallocate hot');
    }
  }

  const analyze = () => pool.query('analyze');

  describe('the entities agree with the migrated database', () => {
    let dataSource: DataSource;
    let migrated: Map<string, Table>;
    beforeAll(async () => {
      dataSource = service.app.get(DataSource);
      migrated = await migratedTables(dataSource);
    });

    it('every table has one entity, and every entity a table', () => {
      const tables = [...migrated.keys()].filter((name) => !BOOKKEEPING.includes(name));
      const entities = dataSource.entityMetadatas.map(({ tableName }) => tableName);
      expect(entities.toSorted()).toEqual(tables.toSorted());
      expect([...migrated.keys()]).toEqual(expect.arrayContaining(BOOKKEEPING));
    });

    it('columns, types, nullability and primary keys are the same', () => {
      for (const metadata of dataSource.entityMetadatas) {
        expect({ [metadata.tableName]: mappedTable(dataSource, metadata) }).toEqual({
          [metadata.tableName]: migrated.get(metadata.tableName),
        });
      }
    });

    it('no table has partitions', async () => {
      expect((await pool.query(`select relname from pg_class where relkind = 'p'`)).rows).toEqual([]);
    });

    it('a property is named like its column', () => {
      const renamed = dataSource.entityMetadatas.flatMap(({ tableName, columns }) =>
        columns
          .filter(({ propertyName, databaseName }) => propertyName !== databaseName)
          .map(({ propertyName, databaseName }) => `${tableName}.${databaseName} as ${propertyName}`),
      );
      expect(renamed).toEqual([]);
    });
  });

  it.each([
    ['a poll', '{ task(taskId: "x") { __typename id taskId status result { outputs { url } } error { code } } }'],
    ['a list', '{ tasks(first: 5) { edges { cursor node { taskId status } } pageInfo { hasNextPage endCursor } } }'],
  ])('%s in GraphQL has a plan', (_, text) => {
    const document = parse(text);
    expect(
      planOfDocument(service.app.get(GraphQLSchemaHost).schema, document, getOperationAST(document)!),
    ).not.toBeNull();
  });

  it('filters make PostgreSQL keep few statements, and the metrics no further series', async () => {
    const OF_FILTERS = /^(tasks\.(list|match|count|unfinished)|usage\.read|webhooks\.list) /;
    const filters = [
      'created_after=1', 'created_before=2000000000', 'kind=image', 'model=sora-2', 'source=api', 'metadata[a]=b', 'search=cat',
      'status=failed', 'order=asc', 'limit=1', `after=task_${'7'.repeat(26)}`,
    ]; // prettier-ignore
    const series = async () => {
      const samples = await service.app.get(Metrics).samples('db_client_operation_duration_seconds');
      return new Set(samples.map(({ labels }) => String(labels.db_operation_name)));
    };
    const known = await series();
    for (let set = 0; set < 2 ** filters.length; set += 31) {
      const query = filters.filter((_, bit) => (set >> bit) & 1).join('&');
      expect([query, (await service.api.get(`/v1/tasks?${query}`)).status]).toEqual([query, 200]);
    }
    for (const query of ['kind=image', 'kind=image&status=failed', 'search=cat', 'metadata[a]=b&model=sora-2']) {
      await service.api.get(`/v1/tasks/counts?${query}`);
    }
    for (const groups of ['model', 'kind', 'model&group_by=kind']) await service.api.get(`/v1/usage?start_time=1700000000&bucket_width=1M&group_by=${groups}`); // prettier-ignore
    expect([...(await series()).difference(known)].filter((name) => OF_FILTERS.test(name))).toEqual([]);
    // Those of the usual filters; each takes up to 168 kB of each connection.
    expect([...kept].filter((name) => OF_FILTERS.test(name)).length).toBeLessThan(40);
  });

  const steps: [string, () => Promise<unknown>][] = [
    ['while the tables are nearly empty and were never analysed', async () => undefined],
    [`with ${2 * ROWS} rows that were never analysed`, fill],
    [`with ${2 * ROWS} rows, analysed`, analyze],
  ];
  describe.each(steps)('%s', (_when, prepare) => {
    beforeAll(prepare);

    it.each(Object.entries(BY_INDEX))(
      '%s uses its index, and reads no table from end to end',
      async (name, allowed) => {
        const plan = await planOf(name);
        expect(plan.filter((node) => node['Node Type'] === 'Seq Scan').map((node) => node['Relation Name'])).toEqual(
          [],
        );
        const used = plan.flatMap((node) => node['Index Name'] ?? []);
        expect(used.filter((index) => !allowed.includes(index))).toEqual([]);
        expect(used.length).toBeGreaterThan(0);
        const unbounded = plan.flatMap((node) => (node['Index Cond'] ? [] : (node['Index Name'] ?? [])));
        expect(unbounded.filter((index) => index.endsWith('_pkey') && !SMALL.test(index))).toEqual([]);
      },
    );

    it.each(PAGES)('%s merges the two tables in their order, and sorts no tasks', async (name) => {
      const merges = (await planOf(name)).filter((node) => node['Node Type'] === 'Merge Append');
      const types = merges.flatMap((merge) => flat(merge).map((node) => node['Node Type']));
      expect(types).toContain('Index Scan');
      expect(types.filter((type) => ['Sort', 'Incremental Sort', 'Subquery Scan'].includes(type))).toEqual([]);
    });

    it.each(WRITES)('%s finds each task by its id, and compares it with no other', async (name) => {
      const compared = (await planOf(name)).flatMap((node) => node['Join Filter'] ?? []);
      expect(compared).toEqual([]);
    });

    it.each(CLAIMS)('%s has locked its tasks before it locks the counters of keys', async (name) => {
      const counters = (await planOf(name)).filter((node) => node['Index Name'] === 'key_load_pkey');
      // The other look-ups are of tasks that may be passed over.
      const conditions = counters.map((node) => node['Index Cond']).filter((each) => !each?.includes('array_append'));
      expect(conditions).toContainEqual(expect.stringContaining('= ANY ('));
    });

    it.each(Object.entries(OF_ONE_TABLE))('%s reads %s alone of the two tables', async (name, table) => {
      const read = (await planOf(name)).map((node) => node['Relation Name']);
      expect(read.filter((each) => each?.startsWith('tasks_') && each !== table)).toEqual([]);
    });
  });
});

/** Statements that are not prepared have their name in a comment. */
const nameIn = (text: string): string | undefined => /^\/\* ([\w.: ]+) \*\//.exec(text)?.[1];

function flat(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(flat)];
}

function mappedTable({ driver }: DataSource, { columns, primaryColumns }: EntityMetadata): Table {
  return {
    columns: Object.fromEntries(
      columns.map((column) => [
        column.databaseName,
        describeColumn(driver.normalizeType(column) + (column.isArray ? '[]' : ''), column.isNullable),
      ]),
    ),
    primaryKey: primaryColumns.map(({ databaseName }) => databaseName),
  };
}

async function migratedTables(dataSource: DataSource): Promise<Map<string, Table>> {
  const columns: { table: string; column: string; type: string; nullable: boolean }[] = await dataSource.query(`
    select c.relname as "table", a.attname as "column", not a.attnotnull as nullable, format_type(a.atttypid, null) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')`);
  const keys: { table: string; column: string }[] = await dataSource.query(`
    select k.table_name as "table", k.column_name as "column"
    from information_schema.table_constraints c
    join information_schema.key_column_usage k using (constraint_schema, constraint_name)
    where c.constraint_schema = 'public' and c.constraint_type = 'PRIMARY KEY'
    order by k.ordinal_position`);

  const tables = new Map<string, Table>();
  for (const { table, column, type, nullable } of columns) {
    const found = tables.get(table) ?? { columns: {}, primaryKey: [] };
    found.columns[column] = describeColumn(type, nullable);
    tables.set(table, found);
  }
  for (const { table, column } of keys) tables.get(table)?.primaryKey.push(column);
  return tables;
}

const describeColumn = (type: string, nullable: boolean): string => (nullable ? type : `${type} not null`);
