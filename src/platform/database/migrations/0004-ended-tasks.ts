import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who follows all tasks of a key asks after an interruption what ended meanwhile. */
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
