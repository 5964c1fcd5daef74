import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createDataSource } from './data-source.ts';
import { Sql } from './sql.ts';

/** Gives everybody TypeORM's DataSource (and EntityManager) and our prepared statements, by class. */
@Global()
@Module({})
export class DatabaseModule {
  /** @param url resolved and migrated before Nest starts, since the embedded server must run first */
  static connect(url: string): DynamicModule {
    const typeOrm = TypeOrmModule.forRootAsync({
      useFactory: () => ({ type: 'postgres', retryAttempts: 0 }),
      // Called when every module has been loaded, and with it every entity.
      dataSourceFactory: () => createDataSource(url).initialize(),
    });
    return { module: DatabaseModule, imports: [typeOrm], providers: [Sql], exports: [typeOrm, Sql] };
  }
}
