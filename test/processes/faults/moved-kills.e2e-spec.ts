import { setTimeout as sleep } from 'node:timers/promises';
import { createWithRetries } from '../../support/faults/client.ts';
import { FaultFleet, SHORT_TIMES } from '../../support/faults/fleet.ts';
import { FaultPostgres } from '../../support/faults/postgres.ts';
import { queryOnce, type TaskRow, TaskWatch } from '../../support/faults/watch.ts';
import { eventually } from '../../support/wait.ts';

/** Kills of a backend, and as many of a process of the service. */
const KILLS = process.env.DARKROOM_TEST_LONG === '1' ? 5 : 1;
const CLIENTS = 4;
/** Tasks that must have moved between two kills. */
const MOVES = 12;

/** It fails in the sandbox: no picture is drawn, and its end is as good as another. */
const aTask = { model: 'nano-banana-2', prompt: '#delay:0.2 #fail:provider_rejected' };

describe('kill -9 while tasks move from the unfinished to the final ones', () => {
  // A server of its own: the kill of one backend ends the connections of all.
  let postgres: FaultPostgres;
  let fleet: FaultFleet;
  beforeAll(async () => {
    postgres = await FaultPostgres.start();
    fleet = await FaultFleet.on(postgres.url, { ...SHORT_TIMES, LOG_LEVEL: 'fatal' });
    await fleet.add('api');
    await Promise.all([fleet.add('worker'), fleet.add('worker')]);
  });
  afterAll(async () => {
    await fleet?.end();
    await postgres?.remove();
  });

  const query = <Row>(text: string, values: unknown[] = []) => queryOnce<Row>(postgres.url, text, values);
  const moved = async () => (await query<{ tasks: number }>('select count(*)::int as tasks from tasks_done'))[0]!.tasks;

  /** PostgreSQL ends all connections, and recovers what was committed. */
  async function killBackend(): Promise<void> {
    const [backend] = await query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'darkroom' and datname = current_database()
       order by state = 'idle', query_start desc limit 1`,
    );
    process.kill(backend!.pid, 'SIGKILL');
    await eventually('the database to recover', () => query('select 1').catch(() => null));
  }

  it(
    `loses no task and ends none twice: ${KILLS} kills of a backend, and ${KILLS} of a process`,
    async () => {
      const watch = new TaskWatch(postgres.url);
      const accepted: string[] = [];
      const missed: string[][] = [];
      const over = new AbortController();
      const clients = Array.from({ length: CLIENTS }, async (_, client) => {
        for (let nth = 0; !over.signal.aborted; nth += 1) {
          const api = fleet.clientOf(fleet.apis[0]!);
          const { taskId } = await createWithRetries(() => [api], aTask, `kill-${client}-${nth}`);
          accepted.push(taskId);
          if (nth % 4 === 0) await api.cancel(taskId).catch(() => undefined); // no answer: it may be cancelled or not
          await sleep(100 * Math.random());
        }
      });
      const reader = (async () => {
        while (!over.signal.aborted) {
          const ids = [...accepted];
          const rows = await query<{ id: string }>('select id from tasks where id = any($1)', [ids]).catch(() => null);
          const found = rows?.map(({ id }) => id).toSorted();
          if (found && found.join() !== ids.toSorted().join()) missed.push(found);
          await sleep(20);
        }
      })();
      const kills = (async () => {
        for (let nth = 0; nth < KILLS; nth += 1) {
          const before = await moved();
          await eventually('tasks to move', async () => (await moved()) >= before + MOVES);
          await killBackend();
          const between = await moved();
          await eventually('tasks to move again', async () => (await moved()) >= between + MOVES);
          await fleet.restart(nth % 3 === 2 ? fleet.apis[0]! : fleet.workers[nth % 2]!, 'SIGKILL');
        }
      })().finally(() => over.abort());
      await Promise.all([kills, reader, ...clients]);

      await eventually('all tasks to end', async () => (await query('select from tasks_live limit 1')).length === 0);
      const rows: TaskRow[] = await watch.stop();
      expect(watch.violations).toEqual([]);
      expect(missed).toEqual([]);
      expect(rows.map(({ id }) => id)).toEqual(accepted.toSorted());
      expect(await query('select task_id as id from usage_ledger order by task_id')).toEqual(
        rows.map(({ id }) => ({ id })),
      );
      expect(await query('select queued, running, low, held from key_load')).toEqual([
        { queued: 0, running: 0, low: 0, held: 0 },
      ]);
    },
    300_000 * KILLS,
  );
});
