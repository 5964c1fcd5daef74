import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

export interface TaskRow {
  id: string;
  kind: string;
  status: string;
  attempt: number;
  losses: number;
  progress: number;
  sequence: number;
  worker_id: string | null;
  upstream_id: string | null;
  error: { code: string } | null;
  result: unknown;
  completed_at: Date | null;
}

const RANK: Record<string, number> = { queued: 0, running: 1, succeeded: 2, failed: 2 };

/** Looks at every task again and again, and keeps what ought never to be: a step back, or a change after the end. */
export class TaskWatch {
  readonly wrongs: string[] = [];
  looks = 0;
  private readonly seen = new Map<string, TaskRow>();
  private isOver = false;
  private readonly watching: Promise<void>;

  constructor(
    private readonly url: string,
    private readonly everyMs = 40,
  ) {
    this.watching = this.watch();
  }

  /** A last look, and the rows as they stand. */
  async stop(): Promise<TaskRow[]> {
    this.isOver = true;
    await this.watching;
    const rows = await ask<TaskRow>(this.url, 'select * from tasks order by id');
    for (const row of rows) this.judge(row);
    return rows;
  }

  private async watch(): Promise<void> {
    while (!this.isOver) {
      const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 500, query_timeout: 2_000 });
      client.on('error', () => undefined);
      try {
        await client.connect();
        while (!this.isOver) {
          for (const row of (await client.query<TaskRow>('select * from tasks')).rows) this.judge(row);
          this.looks += 1;
          await sleep(this.everyMs);
        }
      } catch {
        await sleep(this.everyMs); // the database is away; what it says later still has to follow from what it said
      } finally {
        void client.end().catch(() => undefined);
      }
    }
  }

  private judge(now: TaskRow): void {
    const before = this.seen.get(now.id);
    this.seen.set(now.id, now);
    if (!before) return;
    const wrong = (what: string) =>
      this.wrongs.push(`${now.id} ${what}: ${JSON.stringify(before)} -> ${JSON.stringify(now)}`);
    if (RANK[now.status]! < RANK[before.status]!) wrong('went back');
    if (now.attempt < before.attempt) wrong('lost an attempt');
    if (now.sequence < before.sequence) wrong('has an older sequence');
    if (now.progress < before.progress && now.error?.code !== 'task_cancelled') wrong('lost progress');
    const isOver = RANK[before.status] === 2;
    if (isOver && JSON.stringify(told(before)) !== JSON.stringify(told(now))) wrong('changed after its end');
  }
}

/** What the end of a task settles. */
const told = ({ status, attempt, progress, sequence, error, result, completed_at }: TaskRow) => [
  status,
  attempt,
  progress,
  sequence,
  error,
  result,
  completed_at,
];

/** One statement on a connection of its own. */
export async function ask<Row>(url: string, statement: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(statement, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
