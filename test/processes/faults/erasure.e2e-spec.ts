import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { Client } from 'pg';
import { anotherKey } from '../../support/clients/graphql-keys.ts';
import { cloneDatabase, type TestDatabase } from '../../support/database.ts';
import { FaultFleet } from '../../support/faults/fleet.ts';
import { LockedRows } from '../../support/faults/locked-rows.ts';
import { eventually } from '../../support/wait.ts';

const TASKS = 6_000;
const EVENTS = 9_000;
/** Every so manieth event belongs to another key. */
const OTHERS = 3;
const eventId = (nth: number) => `evt_${String(nth).padStart(26, '0')}`;
const taskId = (nth: number) => `task_${String(nth).padStart(26, '0')}`;

interface ErasureRow {
  counts: Record<string, number>;
  attempt: number;
  step: string | null;
  cursor: string | null;
  is_finished: boolean;
}

describe('an erasure whose process is killed', () => {
  let database: TestDatabase;
  let client: Client;
  let fleet: FaultFleet;
  beforeAll(async () => {
    database = await cloneDatabase();
    client = new Client({ connectionString: database.url });
    await client.connect();
    fleet = await FaultFleet.on(database.url, { LOG_LEVEL: 'warn', TASK_SWEEP_S: '0.3' });
    await fleet.add('api');
  });
  afterAll(async () => {
    await fleet?.end();
    await client?.end();
    await database?.drop();
  });

  const row = async (): Promise<ErasureRow> =>
    (await client.query('select *, finished_at is not null as is_finished from erasures')).rows[0];
  /** As if the two minutes had passed for which the erasure belongs to the dead process. */
  const lapse = () => client.query('update erasures set lease_until = now() where finished_at is null');

  /** Starts workers, and kills all while one of them waits for the row. @returns what is erased by then */
  async function killedAt(where: string, workers: number): Promise<ErasureRow> {
    const last = await LockedRows.of(database.url, where);
    await Promise.all(Array.from({ length: workers }, () => fleet.add('worker')));
    await eventually('a worker to come to the row', () => last.areAwaited());
    await Promise.all(fleet.workers.map(({ service }) => service.kill('SIGKILL')));
    const erased = await row();
    await last.release();
    return erased;
  }

  it('goes on where it was, counts everything once, and ends', async () => {
    const api = fleet.clientOf(fleet.apis[0]!);
    const { id } = await anotherKey(api);
    await client.query(
      `insert into tasks_done (id, api_key_id, kind, model, status, input, created_at, completed_at, deadline_at, expires_at, result)
       select 'task_' || lpad(nth::text, 26, '0'), $1, 'image', 'gpt-image-2', 'succeeded', '{}', now(), now() - interval '1 hour',
              now(), now() + interval '1 day', '[{"index": 0}]'
       from generate_series(1, $2::int) as nth`,
      [id, TASKS],
    );
    await client.query(
      `insert into webhook_events (id, api_key_id, type, body, created_at, expires_at)
       select 'evt_' || lpad(nth::text, 26, '0'), case when nth % $3 = 0 then 'key_other' else $1 end, 'task.succeeded', '{}', now(),
              now() + interval '1 day'
       from generate_series(1, $2::int) as nth`,
      [id, EVENTS, OTHERS],
    );
    for (let nth = 1; nth <= TASKS; nth += 100) {
      await mkdir(`${fleet.dataDir}/files/${taskId(nth)}`, { recursive: true });
      await writeFile(`${fleet.dataDir}/files/${taskId(nth)}/1-0.png`, 'a picture');
    }
    expect((await api.call('DELETE', `/v1/api_keys/${id}?erase=true`)).status).toBe(202);

    const first = await killedAt(`tasks_done where id = '${taskId(TASKS)}'`, 1);
    expect(first.counts.tasks).toBeGreaterThan(0);
    expect(first.counts.tasks).toBeLessThan(TASKS);
    expect(first).toMatchObject({ attempt: 1, is_finished: false });

    // Two at once: one of them has it, the other waits.
    await lapse();
    await client.query(`update erasures set created_at = created_at - interval '2 minutes'`);
    const second = await killedAt(`webhook_events where id = '${eventId(EVENTS - 1)}'`, 2);
    expect(second.counts.tasks).toBe(TASKS);
    expect(second.counts.webhook_events).toBeGreaterThan(0);
    await lapse();
    await fleet.add('worker');

    const done = await eventually('the erasure to end', async () => {
      const now = await row();
      return now.is_finished && now;
    });
    expect(done.counts).toMatchObject({ tasks: TASKS, files: TASKS, webhook_events: EVENTS - EVENTS / OTHERS });
    const { rows } = await client.query(
      `select (select count(*)::int from tasks) as tasks, (select count(*)::int from webhook_events) as events`,
    );
    expect(rows[0]).toEqual({ tasks: 0, events: EVENTS / OTHERS });
    for (let nth = 1; nth <= TASKS; nth += 100) expect(existsSync(`${fleet.dataDir}/files/${taskId(nth)}`)).toBe(false);
    expect(fleet.output()).not.toContain('erasure.failed');
  });
});
