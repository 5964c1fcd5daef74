import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Where a task comes from, and how many partial images its creator wants. Every column has a default or is nullable, because
 * processes of the last release insert tasks without them.
 */
export class TaskOrigin1700000000013 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks
        add column source text not null default 'api',
        add column parent_task_id text collate "C",
        add column relation text,
        add column partial_images smallint not null default 0`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
