import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Which SECRET_KEY a row hangs on, by the id of the key; null: the process of an earlier release wrote the row. Those
 * processes read none of it. A renewed hash takes its sessions and sign-in links along.
 */
export class SecretKeys1700000000038 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table secret_keys (id text collate "C" primary key, newest_at timestamptz not null)');
    await runner.query('alter table api_key_secrets add column secret_key_id text');
    await runner.query('alter table webhook_endpoints add column secret_key_id text');
    for (const table of ['sessions', 'one_time_codes']) {
      // Not valid, so that no row is read under the lock. All rows fit: the constraint before it held until now.
      const constraint = `${table}_secret_hash_fkey`;
      await runner.query(`
        alter table ${table}
          drop constraint ${constraint},
          add constraint ${constraint} foreign key (secret_hash) references api_key_secrets (hash)
            on delete cascade on update cascade not valid`);
    }
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
