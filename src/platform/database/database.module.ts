import { type DynamicModule, Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { dataSourceOptions } from './data-source.ts';
import { Sql } from './sql.ts';

/**
 * Provides TypeORM's DataSource and EntityManager, and `Sql`. The module that owns an entity registers it with
 * `TypeOrmModule.forFeature`, which also provides its repository.
 */
@Global()
@Module({})
export class DatabaseModule {
  /** @param url of a database that is already running and migrated, because the embedded server must start before Nest */
  static connect(url: string): DynamicModule {
    const typeOrm = TypeOrmModule.forRootAsync({
      useFactory: () => ({ ...dataSourceOptions(url), autoLoadEntities: true, retryAttempts: 0 }),
    });
    return { module: DatabaseModule, imports: [typeOrm], providers: [Sql], exports: [typeOrm, Sql] };
  }
}
