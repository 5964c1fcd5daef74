import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Browser sessions, and the links that open one. Both are bound to a secret of an API key, and end with it. */
export class Sessions1700000000028 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table sessions (
        id text collate "C" primary key,
        token_hash bytea not null unique check (length(token_hash) = 32),
        secret_hash bytea not null references api_key_secrets (hash) on delete cascade,
        api_key_id text collate "C" not null references api_keys (id) on delete cascade,
        user_agent text not null,
        idle_s integer not null,
        created_at timestamptz not null default now(),
        last_seen_at timestamptz not null default now(),
        expires_at timestamptz not null
      )`);
    await runner.query('create index sessions_api_key on sessions (api_key_id, last_seen_at)');
    await runner.query('create index sessions_secret on sessions (secret_hash)');
    await runner.query('create index sessions_expires on sessions (expires_at)');
    await runner.query(`
      create table one_time_codes (
        hash bytea primary key check (length(hash) = 32),
        secret_hash bytea not null references api_key_secrets (hash) on delete cascade,
        expires_at timestamptz not null
      )`);
    await runner.query('create index one_time_codes_secret on one_time_codes (secret_hash)');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
