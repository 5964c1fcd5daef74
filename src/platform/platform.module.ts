import { type DynamicModule, Global, Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { BuildInfo } from './observe/measuring/build-info.ts';
import { Config } from './config/config.ts';
import { registerBatchMetrics } from './database/batch.ts';
import { DatabaseModule } from './database/database.module.ts';
import { PoolLogin } from './database/pool-login.ts';
import { registerPoolMetrics } from './database/pool-metrics.ts';
import { EventsModule } from './events/events.module.ts';
import { DatabaseFacts } from './database/database-facts.ts';
import { Metrics } from './observe/measuring/metrics.ts';
import { Readiness } from './run/readiness.ts';
import { Reloads } from './config/reloads.ts';
import { NewestKey } from './database/secret-keys/newest-key.ts';
import { SecretKey } from './database/secret-keys/secret-key.entity.ts';
import { Secrets } from './config/secrets.ts';
import { Storage } from './storage/storage.ts';
import { TraceMetrics } from './observe/traces/trace-metrics.ts';
import { StorageModule } from './storage/storage.module.ts';

/** What exists before Nest starts. */
export interface BootContext {
  config: Config;
  secrets: Secrets;
  /** URL of a running, migrated database. */
  databaseUrl: string;
  /** A connected data source of this database. The caller closes it if the application cannot be built. */
  dataSource?: DataSource;
}

/**
 * How long a successful check of the storage counts. Each check of a bucket is a paid request, and load balancers probe
 * every few seconds.
 */
const STORAGE_TTL_MS = 10_000;

/**
 * What every other module builds on: configuration, database, events, file storage, metrics. Imports no other module.
 */
@Global()
@Module({})
export class PlatformModule implements OnModuleInit {
  constructor(
    private readonly readiness: Readiness,
    private readonly dataSource: DataSource,
    private readonly storage: Storage,
    private readonly metrics: Metrics,
  ) {}

  static forRoot({ config, secrets, databaseUrl, dataSource }: BootContext): DynamicModule {
    return {
      module: PlatformModule,
      imports: [
        DatabaseModule.connect(databaseUrl, dataSource),
        TypeOrmModule.forFeature([SecretKey]),
        EventsModule,
        StorageModule,
      ],
      providers: [
        { provide: Config, useValue: config },
        { provide: Secrets, useValue: secrets },
        Metrics,
        DatabaseFacts,
        NewestKey,
        PoolLogin,
        BuildInfo,
        Readiness,
        Reloads,
        TraceMetrics,
      ],
      exports: [Config, Secrets, Metrics, DatabaseFacts, NewestKey, Readiness, Reloads, StorageModule],
    };
  }

  onModuleInit(): void {
    registerPoolMetrics(this.metrics, this.dataSource);
    registerBatchMetrics(this.metrics);
    this.readiness.register('database', () => this.dataSource.query('select 1'));
    this.readiness.register('storage', () => this.storage.ready(), { ttlMs: STORAGE_TTL_MS });
  }
}
