import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { Config } from '../config/config.ts';
import { Reloads } from '../config/reloads.ts';
import type { WatchdogPool } from './watchdog-pool.ts';

/** At a SIGHUP, gives the pool the user and the password of DATABASE_URL, whose file may have changed. */
@Injectable()
export class PoolLogin implements OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly dataSource: DataSource,
    private readonly reloads: Reloads,
  ) {}

  onModuleInit(): void {
    const { databaseUrl } = this.config;
    if (databaseUrl === null) return; // embedded: the password stays
    const pool = (this.dataSource.driver as PostgresDriver).master as WatchdogPool;
    this.reloads.register('DATABASE_URL', databaseUrl, (url) => pool.changeLogin(url));
  }
}
