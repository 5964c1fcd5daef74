import type { MigrationInterface, QueryRunner } from 'typeorm';

/** For subscribers to all tasks of a key: after an interruption they query which tasks ended meanwhile. */
export class EndedTasks1700000000004 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'create index tasks_ended_of_key on tasks (api_key_id, completed_at) where completed_at is not null',
    );
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
