import { Client } from 'pg';
import { loadCheckedConfig } from '../../src/checked-config.ts';
import { type Service, startService } from '../../src/start-service.ts';
import { type InProcess, startInProcess } from './in-process.ts';
import { aFailure, Api } from './clients/api.ts';
import { anotherKey } from './clients/graphql-keys.ts';
import { freePort } from './free-port.ts';
import { eventually } from './wait.ts';

/** A deployment whose tasks wait until the test starts a worker. */
export class QueuedDeployment {
  private readonly workers: Service[] = [];

  private constructor(
    readonly service: InProcess,
    readonly database: Client,
  ) {}

  static async start(settings: Record<string, string> = {}): Promise<QueuedDeployment> {
    const service = await startInProcess({ ROLE: 'api', MAX_RUNNING_PER_KEY: '0', ...settings });
    const database = new Client({ connectionString: service.database.url });
    await database.connect();
    return new QueuedDeployment(service, database);
  }

  /**
   * Starts a worker. It runs one task at a time unless the settings say otherwise, so that tasks start one after the
   * other.
   */
  async work(settings: Record<string, string> = {}): Promise<void> {
    const own = { WORKER_CONCURRENCY: '1', ...settings, ROLE: 'worker', PORT: String(await freePort()) };
    this.workers.push(await startService(await loadCheckedConfig({ ...this.service.env, ...own })));
  }

  /** Deletes every task, and the counters of the keys. */
  async clear(): Promise<void> {
    await this.stopWork();
    await this.database.query('delete from tasks_live; delete from tasks_done');
    await this.database.query('delete from key_load');
  }

  /** Stops the workers in an orderly way: running tasks are given back. */
  async stopWork(): Promise<void> {
    await Promise.all(this.workers.splice(0).map((worker) => worker.stop()));
  }

  async close(): Promise<void> {
    await this.stopWork();
    await this.database.end();
    await this.service.close();
  }

  async keyWith(limits: object = {}): Promise<Api> {
    return new Api(this.service.baseUrl, (await anotherKey(this.service.api, { limits })).key);
  }

  /** Creates tasks one after the other, with `name` in their metadata. */
  async create(
    amount: number,
    name: string,
    { api = this.service.api, ...body }: { api?: Api; [field: string]: unknown } = {},
  ) {
    for (let nth = 0; nth < amount; nth += 1) {
      const { status, text } = await api.create({ ...aFailure, ...body, metadata: { name } });
      if (status !== 201) throw new Error(`Not created: ${text}`);
    }
  }

  /** Waits until all tasks have ended. @returns the names in the order of the starts */
  async startOrder(): Promise<string[]> {
    await eventually('all tasks to end', async () => (await this.rows(`status in ('queued', 'running')`)).length === 0);
    return this.rows('started_at is not null');
  }

  /** The names of the tasks that meet the condition, in the order of their starts. */
  async rows(condition: string): Promise<string[]> {
    const { rows } = await this.database.query<{ name: string }>(
      `select metadata->>'name' as name from tasks where ${condition} order by started_at, id`,
    );
    return rows.map(({ name }) => name);
  }
}

export const count = (names: string[], name: string): number => names.filter((each) => each === name).length;
