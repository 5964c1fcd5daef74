// No service: the statements of two workers, one of which was taken for dead, of two changes of a final task, and of
// more deliveries than one statement changes.
import { Client, Pool } from 'pg';
import type { DataSource } from 'typeorm';
import type { Config } from '../../src/platform/config/config.ts';
import { Sql } from '../../src/platform/database/sql.ts';
import { newTaskId } from '../../src/tasks/record/task-id.ts';
import type { ShownTask } from '../../src/tasks/record/task.entity.ts';
import { ClaimTasks } from '../../src/tasks/sql/claim-tasks.ts';
import { ConfirmCancel } from '../../src/tasks/sql/confirm-cancel.ts';
import { RecordProgress } from '../../src/tasks/sql/record-progress.ts';
import { RecordSubmit } from '../../src/tasks/sql/record-submit.ts';
import { RenewLeases } from '../../src/tasks/sql/renew-leases.ts';
import { ReplaceResult } from '../../src/tasks/sql/replace-result.ts';
import { ResendEvents } from '../../src/webhooks/sql/resend-events.ts';
import { PAGE, stopWaiting } from '../../src/webhooks/sql/stop-waiting.ts';
import { TakeLeases } from '../../src/tasks/sql/take-leases.ts';
import { FinishAndClaim } from '../../src/webhooks/sql/finish-and-claim.ts';
import { cloneDatabase, type TestDatabase } from '../support/database.ts';

const config = {
  taskLeaseS: 30,
  taskMaxAttempts: 3,
  lowPriorityShare: 10,
  webhookTimeoutMs: 10_000,
  webhookDisableAfterHours: 24,
} as Config;

describe('a worker whose lease another one has taken', () => {
  let database: TestDatabase;
  let pool: Pool;
  let sql: Sql;
  let observer: Client;
  beforeAll(async () => {
    database = await cloneDatabase();
    pool = new Pool({ connectionString: database.url });
    sql = new Sql({ driver: { master: pool } } as unknown as DataSource);
    observer = new Client({ connectionString: database.url });
    await observer.connect();
  });
  afterAll(async () => {
    await observer?.end();
    await pool?.end();
    await database?.drop();
  });

  const row = async (table: string, id: string, column = 'id') =>
    (await observer.query(`select * from ${table} where ${column} = $1`, [id])).rows[0] as Record<string, unknown>;

  it.each<[string, (id: string, attempt: number) => Promise<number>]>([
    ['renews', async (id, attempt) => (await new RenewLeases(sql, config).renew([{ id, attempt }])).size],
    [
      'gives back',
      async (id, attempt) => (await new RenewLeases(sql, config).release([{ id, attempt }], 0, null)).length,
    ],
    [
      'records progress of',
      async (id, attempt) => Number((await new RecordProgress(sql).record({ id, attempt, progress: 50 })) !== null),
    ],
  ])('%s no task with its old attempt', async (_, act) => {
    const id = newTaskId(Date.now());
    await observer.query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, attempt, waits, worker_id, lease_until, created_at, expires_at, deadline_at)
       values ($1, 'key_a', 'image', 'gpt-image-2', 'running', '{}', 2, false, 'second', now() + interval '30 s', now(), now() + interval '1 day', now() + interval '1 hour')`,
      [id],
    );
    const before = await row('tasks', id);
    expect(await act(id, 1)).toBe(0);
    expect(await row('tasks', id)).toEqual(before);
    expect(await act(id, 2)).toBe(1);
  });

  it.each([
    ['its only job', null, 'job_1'],
    ['a further job', 'job_1,?', 'job_1,job_2'],
  ])(
    'records the id of %s if the task was taken away during the call and nobody has claimed it',
    async (_, known, ids) => {
      const id = newTaskId(Date.now());
      await observer.query(
        `insert into tasks_live (id, api_key_id, kind, model, status, input, attempt, waits, worker_id, lease_until, submitted_at, provider, provider_url, upstream_id, created_at, expires_at, deadline_at)
       values ($1, 'key_a', 'image', 'gpt-image-2', 'running', '{}', 2, false, 'first', now() + interval '30 s', now(), 'fal', 'https://a/', $2, now(), now() + interval '1 day', now() + interval '1 hour')`,
        [id, known],
      );
      const accepted = (list: string, url = 'https://a/') =>
        new RecordSubmit(sql, config).accepted({ id, attempt: 2 }, list, null, null, { provider: 'fal', url });
      const waits = async () => ((await row('tasks_live', id)).lease_until as Date).getTime() > Date.now();
      await new TakeLeases(sql).take([id]);
      expect(await waits()).toBe(true);
      await accepted('job_9', 'https://b/'); // another worker has made a call there, and has given the task back
      expect(await row('tasks', id)).toMatchObject({ upstream_id: known });
      expect(await accepted(ids)).toBe(false); // the worker must stop
      expect(await row('tasks', id)).toMatchObject({ attempt: 3, upstream_id: ids });
      expect(await waits()).toBe(false);
      await accepted('job_9');
      await observer.query(`update tasks_live set worker_id = 'second', upstream_id = null where id = $1`, [id]);
      await accepted('job_9');
      expect(await row('tasks', id)).toMatchObject({ upstream_id: null });
    },
  );

  it('counts once as given back, however often the statement runs', async () => {
    const id = newTaskId(Date.now());
    await observer.query(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, attempt, losses, waits, worker_id, lease_until, created_at, expires_at, deadline_at)
       values ($1, 'key_a', 'image', 'gpt-image-2', 'running', '{}', 2, 1, false, 'first', now() + interval '30 s', now(), now() + interval '1 day', now() + interval '1 hour')`,
      [id],
    );
    for (const _ of [1, 2]) await new RenewLeases(sql, config).release([{ id, attempt: 2 }], 60, null);
    expect(await row('tasks_live', id)).toMatchObject({ losses: 0, worker_id: null });
  });

  it('is not taken by a claim that waited in a frozen database: its lease expired after the claim was sent', async () => {
    const id = newTaskId(Date.now());
    const { rows } = await observer.query<{ ms: number }>(
      `insert into tasks_live (id, api_key_id, kind, model, status, input, attempt, waits, worker_id, lease_until, created_at, expires_at, deadline_at)
       values ($1, 'key_a', 'image', 'gpt-image-2', 'running', '{}', 1, false, 'first', now() - interval '5 s', now(), now() + interval '1 day', now() + interval '1 hour')
       returning extract(epoch from lease_until)::float8 * 1000 as ms`,
      [id],
    );
    const expired = rows[0]!.ms;
    const claimed = async (expiredByMs: number | null) =>
      (await new ClaimTasks(sql, config).claim(100, expiredByMs, [], null)).tasks.some((task) => task.id === id);
    expect(await claimed(expired - 1_000)).toBe(false);
    expect(await claimed(null)).toBe(false);
    expect(await claimed(expired + 1_000)).toBe(true);
  });

  it('changes a final task only in the state that it has read, and each change raises its sequence', async () => {
    const id = newTaskId(Date.now());
    await observer.query(
      `insert into tasks_done (id, api_key_id, kind, model, status, input, sequence, created_at, completed_at, deadline_at, expires_at, usage, error)
       values ($1, 'key_a', 'video', 'sora-2', 'failed', '{}', 7, now(), now(), now(), now() + interval '1 day',
               '{"cost_micros": 5, "basis": "assumed"}', '{"code": "task_cancelled"}')`,
      [id],
    );
    await observer.query(
      `insert into usage_ledger (task_id, api_key_id, model, kind, source, outcome, completed_at, images, video_seconds, submits, cost_micros, basis, rolled_up)
       values ($1, 'key_a', 'sora-2', 'video', 'api', 'failed', now(), 0, 0, 1, 5, 'assumed', false)`,
      [id],
    );
    const stars = { result: null, kept: true, collection: null };
    const replace = async (sequence: number) =>
      (await new ReplaceResult(sql).replace({ id, sequence } as ShownTask, stars))?.sequence ?? null;
    expect(await replace(6)).toBeNull();
    expect(await row('tasks', id)).toMatchObject({ sequence: 7, kept_at: null });
    expect(await Promise.all([replace(7), replace(7)])).toEqual(expect.arrayContaining([8, null]));
    expect(await new ConfirmCancel(sql).confirm(id)).toBe(true);
    expect(await row('tasks', id)).toMatchObject({ sequence: 9, usage: { cost_micros: 0, basis: 'free' } });
    expect(await new ConfirmCancel(sql).confirm(id)).toBe(false);
    expect(await row('tasks', id)).toMatchObject({ sequence: 9 });
  });

  it('ends no delivery with the answer to its old attempt', async () => {
    await observer.query(
      `insert into webhook_endpoints (id, api_key_id, url, events, description, status, secret, secret_hint, created_at)
       values ('we_a', 'key_a', 'https://shop.example/', '{task.completed}', '', 'enabled', '', '', now())`,
    );
    await observer.query(
      `insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
       values ('evt_a', 'key_a', 'task.completed', '{}', now(), now() + interval '1 day')`,
    );
    await observer.query(
      `insert into webhook_dispatches (event_id, endpoint_id, lease_until, attempt, failures, trigger)
       values ('evt_a', 'we_a', now() + interval '1 minute', 2, 1, 'scheduled')`,
    );
    const answer = (attempt: number) => ({
      delivery_id: `dlv_${attempt}`, event_id: 'evt_a', endpoint_id: 'we_a', attempt, url: 'https://shop.example/', request_headers: null,
      trigger: 'scheduled' as const, attempted_at: new Date(), outcome: 'delivered' as const, retry_in_s: null,
      status_code: 200, error: null, duration_ms: 5, response_snippet: null,
    }); // prettier-ignore
    const workers = new FinishAndClaim(sql, config);
    const before = await row('webhook_dispatches', 'evt_a', 'event_id');
    await workers.run([answer(1)], [], { free: 0, probes: 0, further: 0, withProbes: 0 });
    expect(await row('webhook_dispatches', 'evt_a', 'event_id')).toEqual(before);
    await workers.run([answer(2)], [], { free: 0, probes: 0, further: 0, withProbes: 0 });
    expect(await row('webhook_dispatches', 'evt_a', 'event_id')).toMatchObject({
      lease_until: null,
      delivered_at: expect.any(Date),
    });
  });

  it('stops and recovers more events of an endpoint than one statement changes, and none of another one', async () => {
    const half = PAGE + 1;
    await observer.query(
      `insert into webhook_endpoints (id, api_key_id, url, events, description, status, secret, secret_hint, created_at)
       select id, 'key_a', 'https://shop.example/', '{task.completed}', '', status, '', '', now()
       from (values ('we_off', 'disabled'), ('we_on', 'enabled')) e(id, status)`,
    );
    // The first event of each kind is too old to be recovered.
    await observer.query(
      `insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
       select 'evt_' || lpad(nth::text, 6, '0'), 'key_a', 'task.completed', '{}',
              now() - case when nth in (1, $1 + 1) then interval '1 hour' else interval '0' end, now() + interval '1 day'
       from generate_series(1, 2 * $1) nth`,
      [half],
    );
    await observer.query(
      `insert into webhook_dispatches (event_id, endpoint_id, due_at, attempt, failures, trigger)
       select id, e.endpoint_id, case when id > 'evt_' || lpad($1::text, 6, '0') then date_trunc('hour', now()) + interval '2 hours' end, 1, 1, 'scheduled'
       from webhook_events, (values ('we_off'), ('we_on')) e(endpoint_id) where id like 'evt_0%'`,
      [half],
    );
    const waiting = async () =>
      (
        await observer.query(
          `select endpoint_id as of, count(due_at)::int as waiting, count(*) filter (where due_at <= now())::int as due
           from webhook_dispatches where endpoint_id in ('we_off', 'we_on') group by 1 order by 1`,
        )
      ).rows as unknown;
    await stopWaiting(sql, ['we_off', 'we_on']);
    expect(await waiting()).toEqual([
      { of: 'we_off', waiting: 0, due: 0 },
      { of: 'we_on', waiting: half, due: 0 },
    ]);
    const resend = new ResendEvents(sql);
    const since = Date.now() / 1000 - 60;
    expect(await resend.recover('we_on', since)).toBe(2 * half - 2);
    expect(await resend.recover('we_on', since)).toBe(0);
    expect(await waiting()).toEqual([
      { of: 'we_off', waiting: 0, due: 0 },
      { of: 'we_on', waiting: 2 * half - 1, due: 2 * half - 2 },
    ]);
  });
});
