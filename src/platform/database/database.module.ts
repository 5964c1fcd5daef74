import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { createDataSource } from './data-source.ts';
import { Sql } from './sql.ts';

/**
 * Provides TypeORM's DataSource and EntityManager, and `Sql`. The module that owns an entity registers it with
 * `TypeOrmModule.forFeature`, which also provides its repository.
 */
@Global()
@Module({})
export class DatabaseModule {
  /**
   * @param url the URL of a database that runs and is migrated: the embedded server must start before Nest
   * @param connected a data source of the caller. If Nest cannot build the application, the caller must close it,
   *   because Nest does not
   */
  static connect(url: string, connected?: DataSource): DynamicModule {
    const typeOrm = TypeOrmModule.forRootAsync({
      useFactory: () => ({ type: 'postgres', retryAttempts: 0 }),
      // Runs after every module file, and so every entity, has been imported: autoLoadEntities would add nothing.
      dataSourceFactory: async () => connected ?? createDataSource(url).initialize(),
    });
    return { module: DatabaseModule, imports: [typeOrm], providers: [Sql], exports: [typeOrm, Sql] };
  }
}
