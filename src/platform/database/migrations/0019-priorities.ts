import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Tasks of low priority, and weights of API keys. Processes of the last release create tasks of normal priority only, and do
 * not lower `key_load.low` when a task of low priority ends; the key's next creation corrects it.
 */
export class Priorities1700000000019 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      alter table tasks
        add column low boolean not null default false,
        add column run_deadline_s real`);
    await runner.query(`
      alter table key_load
        add column low integer not null default 0,
        add column weight smallint not null default 10`);
    // Parked tasks are woken normal ones first. The former index, in order of the id alone, would be written in vain.
    await runner.query('create index tasks_parked on tasks (api_key_id, low, id) where parked');
    await runner.query('drop index tasks_parked_of_key');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
