import type { MigrationInterface, QueryRunner } from 'typeorm';
import { partitionTables } from '../partitions/partition-tables.ts';

/** Tasks in partitions by their ids. */
export class TaskPartitions1700000000034 implements MigrationInterface {
  /** Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table if not exists partitioned_tables (
        name text collate "C" primary key,
        dropped_below text collate "C" not null
      )`);
    await partitionTables(runner, { prefix: 'task', tables: [{ name: 'tasks', key: 'id' }] });
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
