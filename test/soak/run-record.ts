import pg from 'pg';

/** A task as its row was at its end. */
interface Ended {
  id: string;
  key: string;
  prompt: string;
  status: string;
  code: string | null;
  attempt: number;
  losses: number;
  /** Seconds from create to end. */
  took: number;
  /** When it ended, in ISO 8601 in UTC. */
  at: string;
}

const ENDED = `
  select id, api_key_id as key, input->>'prompt' as prompt, status, error->>'code' as code, attempt, losses,
         extract(epoch from completed_at - created_at)::float8 as took,
         to_char(completed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
  from tasks where completed_at > now() - $1 * interval '1 s'`;

/** Errors that the load asks for. */
const ASKED_FOR = new Set([null, 'content_policy_violation', 'task_cancelled']);

/** What clients, the receiver and the database saw during the run. */
export class RunRecord {
  /** Tasks whose create was answered 201, and the tenant. null: a key that is revoked during the run. */
  readonly accepted = new Map<string, string | null>();
  readonly ended = new Map<string, Ended>();
  /** Event ids by task, from the endpoint that answers 200 at once. */
  readonly events = new Map<string, Set<string>>();
  /** Ends that arrived by the event streams, by tenant. */
  readonly streamed = new Map<string, Set<string>>();
  readonly counts: { [name: string]: number } = {};
  /** What must never happen, as text. */
  readonly violations: string[] = [];
  readonly faults: { at: number; kind: string; seconds: number }[] = [];
  private client: pg.Client | null = null;

  /** Unix milliseconds. */
  startedAt = Date.now();

  get elapsedS(): number {
    return (Date.now() - this.startedAt) / 1000;
  }

  count(name: string, by = 1): void {
    this.counts[name] = (this.counts[name] ?? 0) + by;
  }

  violation(text: string): void {
    this.count('violations');
    console.log(`violation at ${Math.round(this.elapsedS)} s: ${text}`);
    if (this.violations.length < 200) this.violations.push(`${Math.round(this.elapsedS)} s: ${text}`);
  }

  delivered(taskId: string, eventId: string): void {
    const known = this.events.get(taskId) ?? new Set();
    known.add(eventId);
    this.events.set(taskId, known);
  }

  /** Reads what has ended in the last `seconds`. A task is read before its retention ends. */
  async readEnds(url: string, seconds: number): Promise<void> {
    for (const row of await this.query<Ended>(url, ENDED, [seconds])) {
      const before = this.ended.get(row.id);
      if (before && (before.status !== row.status || before.attempt !== row.attempt || before.code !== row.code))
        this.violation(`${row.id} changed after its end: ${JSON.stringify([before, row])}`);
      if (!before && !ASKED_FOR.has(row.code))
        console.log(`${row.id} failed at ${Math.round(this.elapsedS)} s: ${row.code}, attempt ${row.attempt}`);
      this.ended.set(row.id, row);
    }
  }

  /** On one connection, which is made again after it was cut. */
  async query<Row extends pg.QueryResultRow>(url: string, text: string, values: unknown[] = []): Promise<Row[]> {
    try {
      if (!this.client) {
        const client = new pg.Client({ connectionString: url, application_name: 'soak' });
        client.on('error', () => (this.client = null));
        await client.connect();
        this.client = client;
      }
      return (await this.client.query<Row>(text, values)).rows;
    } catch (error) {
      this.client = null;
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.client?.end().catch(() => undefined);
  }
}
