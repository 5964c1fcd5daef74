import { Client } from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../../src/platform/config/config.ts';
import { Sql } from '../../../src/platform/database/sql.ts';
import { CreateTasks } from '../../../src/tasks/sql/create-tasks.ts';
import { ClaimTasks } from '../../../src/tasks/sql/claim-tasks.ts';
import { EndTasks } from '../../../src/tasks/sql/end-tasks.ts';
import { HoldTask } from '../../../src/tasks/sql/hold-task.ts';
import { OpenKeyCounters } from '../../../src/tasks/sql/admission.ts';
import { ReadTasks } from '../../../src/tasks/sql/read-tasks.ts';
import { RecordProgress } from '../../../src/tasks/sql/record-progress.ts';
import { RenewLeases } from '../../../src/tasks/sql/renew-leases.ts';
import { WakeParked } from '../../../src/tasks/sql/wake-parked.ts';
import type { Ending } from '../../../src/tasks/record/ending.ts';
import type { ShownTask } from '../../../src/tasks/record/task.entity.ts';
import { taskError } from '../../../src/tasks/record/task-error.ts';
import { newTaskId } from '../../../src/tasks/record/task-id.ts';
import { UsageTerms } from '../../../src/tasks/record/usage-terms.ts';
import { isLockTimeout } from '../../../src/tasks/sql/batch-by-key.ts';
import { Api } from '../../support/clients/api.ts';
import { startInProcess, type InProcess } from '../../support/in-process.ts';

const isLong = process.env.DARKROOM_TEST_LONG === '1';
const SECONDS = isLong ? 600 : 3;
/** Those that act at the same time, each like a process of its own. */
const ACTORS = isLong ? 4 : 2;
/** Beyond it, no task is created until some have ended. */
const MOST_UNFINISHED = 300;
/** Ends that the short form waits for too. */
const FEWEST_ENDS = 200;

/**
 * An end holds its rows until its process commits. All actors are one process here, so on a busy machine another one may wait for too long,
 * for a row or for a connection, and the end itself may take too long. It then gives up, has changed nothing, and tries again later, as a process does.
 */
const gaveUp = (error: unknown): undefined => {
  const causes = [error, (error as Error).cause].filter((cause) => cause instanceof Error);
  if (!causes.some((cause) => isLockTimeout(cause) || CHANGED_NOTHING.test(cause.message))) throw error;
};
const CHANGED_NOTHING =
  /timeout exceeded when trying to connect|terminated due to connection timeout|Ending the tasks took longer/;

const RANK: Record<string, number> = { queued: 0, running: 1, succeeded: 2, failed: 2 };
type Seen = Pick<ShownTask, 'id' | 'status' | 'sequence'>;
const KEYS = ['unlimited', 'limited', 'weighty'] as const;

/**
 * A task ends while others read, claim, renew and cancel it. Whatever reads must find it exactly once, before its end, during it and
 * afterwards.
 */
describe('tasks that are created, claimed, renewed, ended and cancelled by all at the same time', () => {
  let service: InProcess;
  let observer: Client;
  const lost: Error[] = [];
  beforeAll(async () => {
    service = await startInProcess({ ROLE: 'api', DATABASE_POOL_MAX: String(12 * ACTORS) }); // none waits for a connection
    observer = new Client({ connectionString: service.database.url });
    observer.on('error', (error) => lost.push(error)); // a crash of one server process ends the connections of all
    await observer.connect();
  });
  afterAll(async () => {
    await observer?.end().catch(() => undefined);
    await service?.close();
  });

  it(
    'are found exactly once by every read, and end once',
    async () => {
      const [sql, terms] = [service.app.get(Sql), service.app.get(UsageTerms)];
      /** Many leases lapse while their task runs. */
      const config: Config = { ...service.app.get(Config), taskLeaseS: 0.05, taskMaxAttempts: 1_000 };
      const counters = new OpenKeyCounters(sql);
      const keys = new Map<string, { api: Api; maxRunning: number; weight: number }>();
      for (const name of KEYS) {
        const { body } = await service.api.call<{ id: string; key: string }>('POST', '/v1/api_keys', { name });
        const [maxRunning, weight] = [name === 'limited' ? 4 : 0, name === 'weighty' ? 20 : 10];
        keys.set(body.id, { api: new Api(service.baseUrl, body.key), maxRunning, weight });
      }
      const keyIds = [...keys.keys()];

      /** Ids whose creation is committed, by key, in the order of their commits. */
      const created = new Map<string, string[]>(keyIds.map((id) => [id, []]));
      const keyOf = new Map<string, string>();
      const unfinished = new Set<string>();
      const attempts = new Map<string, number>();
      const ends = new Map<string, number>();
      const seen = new Map<string, Seen>();
      const faults: string[] = [];
      const any = <Value>(values: readonly Value[]): Value => values[Math.floor(Math.random() * values.length)]!;
      const some = (share: number): string[] => [...unfinished].filter(() => Math.random() < share);
      const leaseOf = (id: string) => ({ id, attempt: attempts.get(id) ?? 1 });
      const newer = (task: Seen) => {
        const before = seen.get(task.id);
        if (!before || task.sequence >= before.sequence) seen.set(task.id, task);
      };
      /** @param before what was known when the read began: answers may come in another order */
      const judge = (task: Seen, before: Seen | undefined) => {
        if (before && (RANK[task.status]! < RANK[before.status]! || task.sequence < before.sequence))
          faults.push(
            `${task.id} went back from ${before.status} ${before.sequence} to ${task.status} ${task.sequence}`,
          );
        newer(task);
      };

      const stopped = new AbortController();
      const over = async (act: () => Promise<unknown>, pauseMs: number) => {
        while (!stopped.signal.aborted && lost.length === 0 && faults.length === 0) {
          await act().catch(gaveUp);
          await sleep(pauseMs * Math.random());
        }
      };

      const writersOfOne = (): (() => Promise<unknown>)[] => {
        const creates = new CreateTasks(sql, counters);
        const [claims, renewals] = [new ClaimTasks(sql, config), new RenewLeases(sql, config)];
        const [progress, wakes, holds] = [new RecordProgress(sql), new WakeParked(sql, config), new HoldTask(sql)];
        const endings = new EndTasks(sql, config, terms);
        const end = async (ending: Omit<Ending, 'api_key_id'>) => {
          const ended = await endings.end({ ...ending, api_key_id: keyOf.get(ending.id)! }).catch(gaveUp);
          if (!ended) return;
          ends.set(ending.id, (ends.get(ending.id) ?? 0) + 1);
          unfinished.delete(ending.id);
          newer(ended.task);
        };
        const failed = { status: 'failed', error: taskError('task_cancelled') } as const;
        return [
          async () => {
            if (unfinished.size > MOST_UNFINISHED) return;
            const tasks = Array.from({ length: 8 }, () => ({ id: newTaskId(), api_key_id: any(keyIds) }));
            const now = Date.now();
            await Promise.all(
              tasks.map(async ({ id, api_key_id }, at) => {
                const { maxRunning, weight } = keys.get(api_key_id)!;
                keyOf.set(id, api_key_id);
                await creates.create({
                  id,
                  api_key_id,
                  kind: 'image',
                  model: 'gpt-image-2',
                  input: { prompt: 'A gate' },
                  metadata: {},
                  created_at: now,
                  expires_at: now + 86_400_000,
                  deadline_s: 3_600,
                  low: at === 0 || undefined,
                  limits: { maxQueued: 0, maxRunning, weight },
                });
                unfinished.add(id);
                created.get(api_key_id)!.push(id);
              }),
            );
          },
          async () => {
            const { tasks } = await claims.claim(8, Date.now(), [], null);
            for (const task of tasks) {
              attempts.set(task.id, task.attempt);
              newer(task);
            }
          },
          () => renewals.renew(some(0.5).map(leaseOf)),
          async () => {
            const percent = Math.ceil(99 * Math.random());
            const records = some(0.3).map((id) => progress.record({ ...leaseOf(id), progress: percent }));
            for (const task of await Promise.all(records)) if (task) newer(task);
          },
          () =>
            Promise.all(some(0.1).map((id) => end({ ...leaseOf(id), outcome: { status: 'succeeded', result: [] } }))),
          () => Promise.all(some(0.01).map((id) => end({ id, attempt: null, outcome: failed }))),
          () => Promise.all(some(0.01).map((id) => end({ id, attempt: null, unclaimed: true, outcome: failed }))),
          () => Promise.all(some(0.01).map((id) => end({ ...leaseOf(id), lapsed: true, outcome: failed }))),
          () => wakes.wake(keyIds),
          // They wait for their provider.
          async () => {
            for (const lease of some(0.05).map(leaseOf))
              if ((await renewals.release([lease], 0.05, null)).length > 0) await holds.hold(lease);
          },
        ];
      };

      /** The newest ids are those that change while they are read. */
      const newest = (ids: string[]) => ids.slice(-200);
      const reads = new ReadTasks(sql);
      let walks = 0;
      const readers: (() => Promise<unknown>)[] = [
        async () => {
          const ids = keyIds.flatMap((key) => newest(created.get(key)!));
          const before = new Map(seen);
          const { rows } = await observer.query<Seen>(
            'select id, status, sequence from tasks where id = any($1::text[]) order by id',
            [ids],
          );
          const found = rows.map(({ id }) => id);
          if (found.join() !== ids.toSorted().join()) faults.push(`${ids.length} tasks were read as ${found.length}`);
          for (const row of rows) judge(row, before.get(row.id));
        },
        async () => {
          const ids = newest(created.get(any(keyIds))!);
          const before = new Map(seen);
          const tasks = await Promise.all(ids.map((id) => reads.find(id)));
          tasks.forEach((task, at) =>
            task ? judge(task, before.get(ids[at]!)) : faults.push(`${ids[at]} was not found`),
          );
        },
        async () => {
          const key = any(keyIds);
          const wanted = newest(created.get(key)!);
          const first = wanted.reduce((least, id) => (id < least ? id : least), '~');
          const found: string[] = [];
          for (let after = ''; ;) {
            const path = `/v1/tasks?limit=50${after && `&after=${after}`}`;
            const { status, body } = await keys
              .get(key)!
              .api.get<{ data: { task_id: string }[]; has_more: boolean }>(path);
            if (status === 503) return undefined; // no connection
            if (status !== 200) return faults.push(`a list was answered with ${status}`);
            found.push(...body.data.map(({ task_id }) => task_id));
            after = found.at(-1) ?? '';
            if (!body.has_more || after < first) break;
          }
          walks += 1;
          const ids = new Set(found);
          if (ids.size !== found.length) faults.push('a list named a task twice');
          const missing = wanted.filter((id) => !ids.has(id));
          if (missing.length > 0) faults.push(`a list lacked ${missing.join()}`);
        },
        async () => {
          const { rows } = await observer.query<{ api_key_id: string }>(`
            select l.* from key_load l join lateral (
              select count(*) filter (where status = 'queued') as queued, count(*) filter (where status = 'running') as running,
                     count(*) filter (where low and status in ('queued', 'running')) as low,
                     (select count(*) from tasks_live h where h.api_key_id = l.api_key_id and h.held) as held,
                     count(*) filter (where status in ('succeeded', 'failed')) as final
              from tasks t where t.api_key_id = l.api_key_id) t on true
            where l.queued <> t.queued or l.running <> t.running or l.low <> t.low or l.held <> t.held
              or (l.max_running > 0 and (l.running - l.held > l.max_running or l.held > l.max_running))
              or (select count(*) from usage_ledger u where u.api_key_id = l.api_key_id) <> t.final`);
          if (rows.length > 0) faults.push(`the counters of ${JSON.stringify(rows)} differ from the tasks`);
          const { rows: lost } = await observer.query(
            `select id from tasks_live where waits <> (status = 'queued' and not parked) or (status = 'queued') <> (attempt = 0)`,
          );
          if (lost.length > 0) faults.push(`the line has lost ${JSON.stringify(lost)}`);
        },
      ];

      const began = performance.now();
      const writers = Array.from({ length: ACTORS }, writersOfOne).flat();
      const acting = [...writers.map((act) => over(act, 4)), ...readers.map((act) => over(act, 10))];
      const goesOn = () => performance.now() - began < SECONDS * 1_000 || ends.size < FEWEST_ENDS || walks < 3;
      const isFine = () => lost.length === 0 && faults.length === 0 && !stopped.signal.aborted;
      while (goesOn() && isFine())
        await Promise.race([sleep(100), Promise.race(acting.map((each) => each.catch(() => stopped.abort())))]);
      stopped.abort();
      const results = await Promise.allSettled(acting);
      expect(lost).toEqual([]);
      expect(faults).toEqual([]);
      const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as Error] : []));
      expect(failures.map(({ message, cause }) => `${message} ${String(cause)}`)).toEqual([]);

      expect([...ends].filter(([, times]) => times > 1)).toEqual([]);
      const { rows: final } = await observer.query<{ id: string }>(
        `select t.id from tasks t join usage_ledger l on l.task_id = t.id where status in ('succeeded', 'failed') order by t.id`,
      );
      expect(final.map(({ id }) => id)).toEqual([...ends.keys()].toSorted());
      const { rows } = await observer.query<{ deadlocks: number }>(
        'select deadlocks::int from pg_stat_database where datname = current_database()',
      );
      expect(rows).toEqual([{ deadlocks: 0 }]);
    },
    SECONDS * 1_000 + 240_000,
  );
});
