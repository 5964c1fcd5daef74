import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildPartitionedIndex } from '../partitions/build-partitioned-index.ts';

/**
 * Indexes for filters that few tasks of a key match. The first has few different values, so an entry takes few bytes; the second has failed tasks
 * alone. Processes of the last release do not read them.
 */
export class TaskFacets1700000000041 implements MigrationInterface {
  /** Indexes are built while the service goes on. Each step can be repeated. */
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await buildPartitionedIndex(runner, {
      table: 'tasks',
      name: 'tasks_facets',
      definition: '(api_key_id, source, kind, model)',
    });
    await buildPartitionedIndex(runner, {
      table: 'tasks',
      name: 'tasks_errors',
      definition: `(api_key_id, (error->>'code')) where status = 'failed'`,
    });
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
