import { type DynamicModule, Global, Inject, Module, type OnModuleInit } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Config } from './config.ts';
import { DatabaseModule } from './database/database.module.ts';
import { BUS, type Bus } from './events/bus.ts';
import { EventsModule } from './events/events.module.ts';
import { Metrics } from './metrics.ts';
import { Readiness } from './readiness.ts';
import { Secrets } from './secrets.ts';
import { Storage } from './storage/storage.ts';
import { StorageModule } from './storage/storage.module.ts';

/** What exists before Nest starts. */
export interface BootContext {
  config: Config;
  secrets: Secrets;
  /** Of a running, migrated database. */
  databaseUrl: string;
}

/** A look at the bucket is a request that providers charge for, and balancers look every few seconds at every process. */
const STORAGE_TTL_MS = 10_000;

/**
 * What every other module builds on: configuration, database, events, file storage, metrics. It imports none of them.
 * Only its settings (settings.ts), its migrations and the purposes of its secrets (secrets.ts) name concepts of the
 * domain.
 */
@Global()
@Module({})
export class PlatformModule implements OnModuleInit {
  constructor(
    private readonly readiness: Readiness,
    private readonly dataSource: DataSource,
    private readonly storage: Storage,
    private readonly metrics: Metrics,
    @Inject(BUS) private readonly bus: Bus,
  ) {}

  static forRoot({ config, secrets, databaseUrl }: BootContext): DynamicModule {
    return {
      module: PlatformModule,
      imports: [DatabaseModule.connect(databaseUrl), EventsModule, StorageModule],
      providers: [{ provide: Config, useValue: config }, { provide: Secrets, useValue: secrets }, Metrics, Readiness],
      exports: [Config, Secrets, Metrics, Readiness, StorageModule],
    };
  }

  onModuleInit(): void {
    this.readiness.register('database', () => this.dataSource.query('select 1'));
    this.readiness.register('storage', () => this.storage.ready(), { ttlMs: STORAGE_TTL_MS });
    const { bus } = this;
    this.readiness.register('events', () => assertConnected(bus), { isOptional: true });
    this.metrics.registry.registerMetric(
      new Gauge({
        name: 'events_bus_connected',
        help: '1 while live events of other processes reach this one, otherwise 0.',
        registers: [],
        collect() {
          this.set(bus.isConnected ? 1 : 0);
        },
      }),
    );
  }
}

async function assertConnected({ isConnected }: Bus): Promise<void> {
  if (!isConnected) throw new Error('The bus is not connected.');
}
