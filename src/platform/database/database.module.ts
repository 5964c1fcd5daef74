import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createDataSource } from './data-source.ts';
import { Sql } from './sql.ts';

/**
 * Provides TypeORM's DataSource and EntityManager, and `Sql`. Repositories come from `TypeOrmModule.forFeature` in the module
 * that owns the entity.
 */
@Global()
@Module({})
export class DatabaseModule {
  /** @param url of a database that is already running and migrated, because the embedded server must start before Nest */
  static connect(url: string): DynamicModule {
    const typeOrm = TypeOrmModule.forRootAsync({
      useFactory: () => ({ type: 'postgres', retryAttempts: 0 }),
      // Runs after every module file has been imported, and with it every entity: autoLoadEntities would add nothing.
      dataSourceFactory: () => createDataSource(url).initialize(),
    });
    return { module: DatabaseModule, imports: [typeOrm], providers: [Sql], exports: [typeOrm, Sql] };
  }
}
