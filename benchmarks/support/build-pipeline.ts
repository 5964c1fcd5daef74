import pg from 'pg';
import { join } from 'node:path';
import { burst } from './burst.ts';
import type { Load } from './load.ts';
import { Bench } from './service.ts';

const GENERATION = JSON.stringify({ model: 'gpt-image-2', prompt: 'A lighthouse at dusk', metadata: { order: '42' } });

/** A build that creates tasks and works on them, on a database of its own, with a provider that answers at once. */
export class BuildPipeline {
  private readonly bench: Bench;
  private readonly database: pg.Client;
  private readonly url: string;

  private constructor(bench: Bench, database: pg.Client, url: string) {
    this.bench = bench;
    this.database = database;
    this.url = url;
  }

  /**
   * @param clone folder of the build
   * @param preload a module that the program imports before it starts
   */
  static async open(clone: string, preload?: string): Promise<BuildPipeline> {
    const bench = await Bench.open();
    const instant = join(clone, 'benchmarks/support/instant-provider.ts');
    const imports = [instant, ...(preload === undefined ? [] : [preload])].map((module) => `--import ${module}`);
    const url = await bench.service({ NODE_OPTIONS: imports.join(' ') }, join(clone, 'dist/main.js'));
    const database = new pg.Client({ connectionString: bench.databaseUrl });
    await database.connect();
    return new BuildPipeline(bench, database, url);
  }

  async burst(amount: number): Promise<Load> {
    const headers = { authorization: `Bearer ${this.bench.apiKey}`, 'content-type': 'application/json' };
    const pids = [this.bench.pidOf(this.url), this.bench.databasePid];
    const side = { url: `${this.url}/v1/generations`, table: 'tasks', headers, pids };
    const { rate, work } = await burst(side, GENERATION, { database: this.database, amount });
    return { rate, work: work * 1000, ms: Number.NaN };
  }

  async close(): Promise<void> {
    await this.database.end();
    await this.bench.close();
  }
}
