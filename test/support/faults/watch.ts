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

/** Polls every task and records violations: a step backwards, or a change after the end. */
export class TaskWatch {
  readonly violations: string[] = [];
  polls = 0;
  private readonly seen = new Map<string, TaskRow>();
  private isOver = false;
  private readonly watching: Promise<void>;

  constructor(
    private readonly url: string,
    private readonly everyMs = 40,
  ) {
    this.watching = this.watch();
  }

  /** Polls a last time. @returns the rows */
  async stop(): Promise<TaskRow[]> {
    this.isOver = true;
    await this.watching;
    const rows = await queryOnce<TaskRow>(this.url, 'select * from tasks order by id');
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
          this.polls += 1;
          await sleep(this.everyMs);
        }
      } catch {
        await sleep(this.everyMs); // the database is unreachable; later rows are compared with those read before
      } finally {
        void client.end().catch(() => undefined);
      }
    }
  }

  private judge(now: TaskRow): void {
    const before = this.seen.get(now.id);
    this.seen.set(now.id, now);
    if (!before) return;
    const violation = (what: string) =>
      this.violations.push(`${now.id} ${what}: ${JSON.stringify(before)} -> ${JSON.stringify(now)}`);
    if (RANK[now.status]! < RANK[before.status]!) violation('went back');
    if (now.attempt < before.attempt) violation('lost an attempt');
    if (now.sequence < before.sequence) violation('has an older sequence');
    if (now.progress < before.progress && now.error?.code !== 'task_cancelled') violation('lost progress');
    const isOver = RANK[before.status] === 2;
    if (isOver && JSON.stringify(finalFields(before)) !== JSON.stringify(finalFields(now)))
      violation('changed after its end');
  }
}

/** The fields that must not change after the end of a task. */
const finalFields = ({ status, attempt, progress, sequence, error, result, completed_at }: TaskRow) => [
  status,
  attempt,
  progress,
  sequence,
  error,
  result,
  completed_at,
];

export async function queryOnce<Row>(url: string, statement: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(statement, values)).rows as Row[];
  } finally {
    await client.end();
  }
}
