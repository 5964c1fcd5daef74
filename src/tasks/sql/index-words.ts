import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { Config } from '../../platform/config/config.ts';
import { Servers } from '../../platform/database/servers/servers.ts';
import { Interval } from '../../platform/run/interval.ts';
import { Reloads } from '../../platform/config/reloads.ts';
import { buildWordIndex, dropUseless, dueIndexes } from './build-word-indexes.ts';
import { missingExtensions, WordIndexes } from './word-indexes.ts';

const SWEEP_EVERY_S = 600;
/** An arbitrary fixed number that no other lock of this database has ("word" in ASCII): one process builds. */
const LOCK = 0x776f7264;

/**
 * A session that is cut lets PostgreSQL end the build, which keeps the lock until then. The build waits for every open transaction, such as a
 * backup, but not for hours: a migration of the table would wait for it. The next sweep begins again.
 */
const SETTINGS = `set statement_timeout = 0; set lock_timeout = '5min'`;
/** Linux knows when a session is cut; elsewhere the build ends first. */
const CHECK_CONNECTION = `set client_connection_check_interval = '2s'`;

/**
 * Runs in every worker process: one of them indexes the words of partitions that get no new tasks, and of the stretches of the current one whose
 * tasks have ended. The table itself has no such index, because it would make each creation cost PostgreSQL up to half as much again.
 */
@Injectable()
export class IndexWords implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('partitions');
  private readonly interval = new Interval(() => this.runOnce());
  private client: Client | undefined;
  /** Of the server itself: a pooler would give each statement another session. */
  private url = '';
  private isStopped = false;
  private isRefused = false;

  constructor(
    private readonly config: Config,
    private readonly dataSource: DataSource,
    private readonly indexes: WordIndexes,
    private readonly reloads: Reloads,
  ) {}

  onApplicationBootstrap(): void {
    const { databaseDirectUrl, databaseUrl } = this.config;
    this.url = databaseDirectUrl ?? databaseUrl ?? (this.dataSource.options as { url: string }).url;
    const variable = databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
    if (databaseUrl !== null) this.reloads.register(variable, this.url, (changed) => (this.url = changed));
    if (this.config.role !== 'api') this.interval.start(5);
  }

  /** A build that is under way is given up: the next process begins again. */
  async onApplicationShutdown(): Promise<void> {
    this.isStopped = true;
    await Promise.all([this.interval.stop(), this.client?.end().catch(() => undefined)]);
  }

  /** @returns seconds until the next sweep */
  private async runOnce(): Promise<number> {
    try {
      const client = await new Servers(this.url).connect({ application_name: 'darkroom:index', keepAlive: true });
      this.client = client;
      await this.sweep(client).finally(() => client.end());
    } catch (err) {
      if (!this.isStopped) this.logger.warn({ event: 'words.index_failed', err });
    }
    return SWEEP_EVERY_S;
  }

  private async sweep(client: Client): Promise<void> {
    const { rows } = await client.query<{ is_mine: boolean; now_ms: number }>(
      'select pg_try_advisory_lock($1::int) as is_mine, floor(extract(epoch from now()) * 1000)::float8 as now_ms',
      [LOCK],
    );
    const { is_mine: isMine, now_ms: nowMs } = rows[0]!;
    if (!isMine) return;
    await client.query(SETTINGS);
    await client.query(CHECK_CONNECTION).catch(() => undefined);
    await dropUseless(client);
    const due = await dueIndexes(client, nowMs, nowMs - this.config.taskRetentionDays * 86_400_000);
    if (due.length === 0 || !(await this.hasExtensions(client))) return;
    for (const index of due) {
      if (this.isStopped) return;
      await client.query(buildWordIndex(index));
      this.indexes.forget();
      this.logger.log({ event: 'words.indexed', partition: index.partition, index: index.name });
    }
    await dropUseless(client);
  }

  /** Makes them where the role may. */
  private async hasExtensions(client: Client): Promise<boolean> {
    try {
      for (const name of await missingExtensions(client)) await client.query(`create extension if not exists ${name}`);
      return true;
    } catch (err) {
      if (!this.isRefused) this.logger.warn({ event: 'words.extension_missing', err });
      this.isRefused = true;
      return false;
    }
  }
}
