import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../../src/platform/config/config.ts';
import { Sql } from '../../../src/platform/database/sql.ts';
import { ClaimTasks } from '../../../src/tasks/sql/claim-tasks.ts';
import { MOVED } from '../../../src/tasks/sql/moved-columns.ts';
import { EndTasks } from '../../../src/tasks/sql/end-tasks.ts';
import { RecordProgress } from '../../../src/tasks/sql/record-progress.ts';
import { RenewLeases } from '../../../src/tasks/sql/renew-leases.ts';
import { taskError } from '../../../src/tasks/record/task-error.ts';
import { newTaskId } from '../../../src/tasks/record/task-id.ts';
import { UsageTerms } from '../../../src/tasks/record/usage-terms.ts';
import { startInProcess, type InProcess } from '../../support/in-process.ts';

const SECONDS = process.env.DARKROOM_TEST_LONG === '1' ? 120 : 4;
const TASKS = 12;
const WRITES = 10;
/** A queued task has had no attempt. */
const KEPT = MOVED.replace(' attempt,', '');

/**
 * Each statement often waits for a row that another one changes. PostgreSQL 18.4 crashed within seconds of this while tasks were in
 * partitions (docs/decisions/0090-no-partition-is-picked-while-tasks-are-written.md).
 */
describe('tasks that are claimed, renewed and ended at the same time, over and over', () => {
  let service: InProcess;
  let observer: Client;
  const lost: Error[] = [];
  beforeAll(async () => {
    service = await startInProcess({ ROLE: 'api' });
    observer = new Client({ connectionString: service.database.url });
    observer.on('error', (error) => lost.push(error)); // a crash of one server process ends the connections of all
    await observer.connect();
  });
  afterAll(async () => {
    await observer?.end().catch(() => undefined);
    await service?.close();
  });

  it(
    'neither crash the database nor lose a write',
    async () => {
      const ids = Array.from({ length: TASKS }, () => newTaskId(Date.now()));
      await observer.query(`insert into key_load (api_key_id, queued, running) values ('key_a', $1, 0)`, [TASKS]);
      await observer.query(
        `insert into tasks_live (id, api_key_id, kind, model, status, input, created_at, expires_at, deadline_at, place)
       select id, 'key_a', 'image', 'gpt-image-2', 'queued', '{}', now(), now() + interval '1 day', now() + interval '1 hour', 1
       from unnest($1::text[]) as t(id)`,
        [ids],
      );
      const attempts = new Map<string, number>();
      const sequences = new Map(ids.map((id) => [id, new Set([1])]));
      const wrote = (tasks: { id: string; sequence: number }[]) =>
        tasks.forEach(({ id, sequence }) => sequences.get(id)!.add(sequence));
      const some = (share: number) => ids.filter(() => Math.random() < share);
      const leaseOf = (id: string) => ({ id, attempt: attempts.get(id) ?? 1 });
      const [sql, config] = [service.app.get(Sql), service.app.get(Config)];
      const outcome = { status: 'failed', error: taskError('worker_lost') } as const;
      const isThere = <T>(one: T | null): one is T => one !== null;

      const stopped = new AbortController();
      const over = async (act: () => Promise<unknown>, minIntervalMs: number) => {
        while (!stopped.signal.aborted && lost.length === 0) {
          await act();
          await sleep(minIntervalMs * Math.random());
        }
      };
      /** Each has batches of its own, like a process. */
      const actsOfOne = (): (() => Promise<unknown>)[] => {
        const [claims, renewals, progress] = [
          new ClaimTasks(sql, config),
          new RenewLeases(sql, config),
          new RecordProgress(sql),
        ];
        const ends = new EndTasks(sql, config, service.app.get(UsageTerms));
        return [
          async () => {
            const { tasks } = await claims.claim(8, Date.now(), [], null);
            for (const { id, attempt } of tasks) attempts.set(id, attempt);
            wrote(tasks);
          },
          () => renewals.renew(some(0.7).map(leaseOf)),
          async () => {
            const records = some(0.7).map((id) =>
              progress.record({ ...leaseOf(id), progress: Math.ceil(99 * Math.random()) }),
            );
            wrote((await Promise.all(records)).filter(isThere));
          },
          async () => {
            const ended = some(0.3).map((id) => ends.end({ ...leaseOf(id), api_key_id: 'key_a', outcome }));
            wrote((await Promise.all(ended)).filter(isThere).map(({ task }) => task));
          },
        ];
      };
      /** One at a time, because several would be locked in no order. */
      const revive = async () => {
        const { rows } = await observer.query<{ id: string; sequence: number }>(
          `with gone as (delete from tasks_done where id = (select id from tasks_done limit 1) returning *)
           insert into tasks_live (${KEPT}, status, sequence)
           select ${KEPT}, 'queued', sequence + 1 from gone returning id, sequence`,
        );
        wrote(rows);
        await observer.query(`update key_load set queued = queued + $1`, [rows.length]);
      };
      const began = performance.now();
      const acting = [...actsOfOne(), ...actsOfOne(), ...actsOfOne()].map((act) => over(act, 4));
      acting.push(over(revive, 2));
      const goesOn = () =>
        performance.now() - began < SECONDS * 1_000 || ids.some((id) => sequences.get(id)!.size <= WRITES);
      while (goesOn() && lost.length === 0) await sleep(100);
      stopped.abort();
      const results = await Promise.allSettled(acting);
      expect(lost).toEqual([]);
      expect(results.filter(({ status }) => status === 'rejected')).toEqual([]);

      const { rows } = await observer.query<{ id: string; sequence: number }>('select id, sequence from tasks');
      for (const { id, sequence } of rows) expect([id, sequences.get(id)!.size]).toEqual([id, sequence]);
      const counted = await observer.query(
        `select queued, running, (select count(*)::int from tasks where status = 'queued') as waiting,
              (select count(*)::int from tasks where status = 'running') as started from key_load`,
      );
      const [{ queued, running, waiting, started }] = counted.rows as [Record<string, number>];
      expect([queued, running]).toEqual([waiting, started]);
    },
    SECONDS * 1_000 + 240_000,
  );
});
