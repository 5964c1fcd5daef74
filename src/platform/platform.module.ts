import { type DynamicModule, Global, Module, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Config } from './config.ts';
import { DatabaseModule } from './database/database.module.ts';
import { EventsModule } from './events/events.module.ts';
import { HealthModule } from '../health/health.module.ts';
import { Readiness } from './readiness.ts';
import { Secrets } from './secrets.ts';
import { Storage } from './storage/storage.ts';
import { StorageModule } from './storage/storage.module.ts';

/** The ground under every module; it knows no word of the domain. */
@Global()
@Module({})
export class PlatformModule implements OnModuleInit {
  constructor(
    private readonly readiness: Readiness,
    private readonly dataSource: DataSource,
    private readonly storage: Storage,
  ) {}

  static forRoot({
    config,
    secrets,
    databaseUrl,
  }: {
    config: Config;
    secrets: Secrets;
    databaseUrl: string;
  }): DynamicModule {
    return {
      module: PlatformModule,
      imports: [DatabaseModule.connect(databaseUrl), EventsModule, HealthModule, StorageModule],
      providers: [
        { provide: Config, useValue: config },
        { provide: Secrets, useValue: secrets },
      ],
      exports: [Config, Secrets, StorageModule],
    };
  }

  onModuleInit(): void {
    this.readiness.register('database', () => this.dataSource.query('select 1'));
    this.readiness.register('storage', () => this.storage.ready());
  }
}
