// In-process: the statements of the queue run here without workers, by a clock of their own, so that no time is measured.
import { Config } from '../../../src/platform/config/config.ts';
import { Sql } from '../../../src/platform/database/sql.ts';
import { taskError } from '../../../src/tasks/record/task-error.ts';
import { newTaskId } from '../../../src/tasks/record/task-id.ts';
import { UsageTerms } from '../../../src/tasks/record/usage-terms.ts';
import { ClaimTasks } from '../../../src/tasks/sql/claim-tasks.ts';
import { CreateTasks } from '../../../src/tasks/sql/create-tasks.ts';
import { EndTasks } from '../../../src/tasks/sql/end-tasks.ts';
import { OpenKeyCounters } from '../../../src/tasks/sql/admission.ts';
import { queryOnce } from '../../support/faults/watch.ts';
import { startInProcess, type InProcess } from '../../support/in-process.ts';

const isLong = process.env.DARKROOM_TEST_LONG === '1';
const BACKLOG = isLong ? 100_000 : 2_000;
const PLACES = 12;

interface Run {
  id: string;
  attempt: number;
  key: string;
  endsS: number;
}

/** Workers whose runs take as long as their task says, by a clock that moves from one end to the next. */
class Workers {
  nowS = 0;
  /** Seconds of places that the tasks of each key have held since `count`. */
  held = new Map<string, number>();
  /** The keys of the tasks, in the order of their starts, since `count`. */
  starts: string[] = [];
  private running: Run[] = [];

  constructor(
    private readonly claims: ClaimTasks,
    private readonly ends: EndTasks,
    private readonly databaseUrl: string,
  ) {}

  count(): void {
    this.held = new Map();
    this.starts = [];
  }

  async work(seconds: number): Promise<void> {
    const untilS = this.nowS + seconds;
    for (;;) {
      await this.claim(untilS);
      const nextS = Math.min(untilS, ...this.running.map(({ endsS }) => endsS));
      this.nowS = nextS;
      if (nextS === untilS) return;
      const over = this.running.filter(({ endsS }) => endsS === nextS);
      this.running = this.running.filter(({ endsS }) => endsS !== nextS);
      const ends = over.map(({ id, attempt, key: api_key_id }) =>
        this.ends.end({ id, attempt, api_key_id, outcome: { status: 'succeeded', result: [] } }),
      );
      await Promise.all(ends);
    }
  }

  async cancel(key: string): Promise<void> {
    const text = 'select id from tasks_live where api_key_id = $1';
    const rows = await queryOnce<{ id: string }>(this.databaseUrl, text, [key]);
    const outcome = { status: 'failed', error: taskError('task_cancelled') } as const;
    await Promise.all(rows.map(({ id }) => this.ends.end({ id, attempt: null, api_key_id: key, outcome })));
    this.running = this.running.filter((run) => run.key !== key);
  }

  private async claim(untilS: number): Promise<void> {
    const free = PLACES - this.running.length;
    if (free === 0) return;
    const { tasks } = await this.claims.claim(free, Date.now(), this.running.map(({ id }) => id), null); // prettier-ignore
    for (const { id, attempt, api_key_id: key, input } of tasks) {
      const seconds = Number(input.seconds);
      this.running.push({ id, attempt, key, endsS: this.nowS + seconds });
      this.held.set(key, (this.held.get(key) ?? 0) + Math.min(seconds, untilS - this.nowS));
      this.starts.push(key);
    }
  }
}

describe('the line', () => {
  let service: InProcess;
  let creates: CreateTasks;
  let workers: Workers;
  beforeAll(async () => (service = await startInProcess({ ROLE: 'api' })));
  beforeEach(async () => {
    await queryOnce(service.database.url, 'truncate tasks_live, tasks_done, task_words, key_load, usage_ledger');
    const sql = service.app.get(Sql);
    const config: Config = { ...service.app.get(Config), taskLeaseS: 3_600 };
    creates = new CreateTasks(sql, new OpenKeyCounters(sql));
    const ends = new EndTasks(sql, config, service.app.get(UsageTerms));
    workers = new Workers(new ClaimTasks(sql, config), ends, service.database.url);
  });
  afterAll(() => service?.close());

  /** Tasks that take `seconds`, and of which that is known. */
  async function create(key: string, amount: number, { seconds = 1, weight = 10, low = false } = {}): Promise<void> {
    const task = () => ({
      id: newTaskId(),
      api_key_id: key,
      kind: 'image' as const,
      model: 'gpt-image-2',
      input: { prompt: 'A gate', seconds },
      metadata: {},
      created_at: Date.now(),
      expires_at: Date.now() + 86_400_000,
      deadline_s: 36_000,
      low: low || undefined,
      run_ms: seconds * 1_000,
      limits: { maxQueued: 0, maxRunning: 0, weight },
    });
    for (let left = amount; left > 0; left -= 1_000)
      await Promise.all(Array.from({ length: Math.min(left, 1_000) }, () => creates.create(task())));
  }
  const heldBy = (key: string): number => workers.held.get(key) ?? 0;
  /** One of two keys within a fifth of the other. */
  const expectShares = (a: number, b: number) => {
    expect(Math.min(a, b)).toBeGreaterThan(0);
    expect(Math.max(a, b) / Math.min(a, b)).toBeLessThanOrEqual(1.2);
  };

  it('shares the time of workers among keys with long and short tasks', async () => {
    await create('long', 100, { seconds: 6 });
    await create('short', 500);
    await create('shorter', 500);
    await workers.work(60);
    expectShares(heldBy('long'), heldBy('short'));
    expectShares(heldBy('long'), heldBy('shorter'));
    expect(heldBy('long') + heldBy('short') + heldBy('shorter')).toBe(60 * PLACES);
  });

  it.each([false, true])('gives a key of twice the weight twice the time (low priority: %s)', async (low) => {
    await create('ten', 300, { low });
    await create('twenty', 200, { weight: 20, seconds: 2, low });
    await workers.work(30);
    expectShares(2 * heldBy('ten'), heldBy('twenty'));
  });

  it('lets a new key start after at most one task of a backlog', async () => {
    await create('old', BACKLOG);
    await workers.work(5);
    workers.count();
    await create('new', 100);
    await workers.work(5);
    expect(workers.starts.indexOf('new')).toBeLessThanOrEqual(1);
    expectShares(heldBy('old'), heldBy('new'));
  });

  it('holds nothing against a key that had the machine alone', async () => {
    for (let second = 0; second < 60; second += 1) {
      await create('first', PLACES);
      await workers.work(1);
    }
    workers.count();
    await create('first', 200);
    await create('second', 200);
    await workers.work(10);
    expectShares(heldBy('first'), heldBy('second'));
  });

  it('does not hold a cancelled backlog against its key for long', async () => {
    await create('cancelled', 2_000, { weight: 1 }); // the last one ends at 20,000,000
    await workers.work(1);
    await workers.cancel('cancelled');
    await create('other', 1_200);
    await create('cancelled', 10);
    workers.count();
    await workers.work(60);
    expect(workers.starts.filter((key) => key === 'cancelled').length).toBeGreaterThan(0);
  });

  it('puts the tasks of a limit or a pause that go on before others, and nobody else', async () => {
    await create('paused', 100);
    await queryOnce(service.database.url, 'update tasks_live set parked = true, waits = false');
    await create('waiting', 400);
    await workers.work(20);
    await queryOnce(service.database.url, 'update tasks_live set parked = false, waits = true where parked');
    await create('new', 100);
    workers.count();
    await workers.work(5);
    expect(workers.starts.slice(0, 12).every((key) => key === 'paused')).toBe(true);
    await workers.work(10);
    expectShares(heldBy('waiting'), heldBy('new'));
  });
});
