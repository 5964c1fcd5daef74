import type { MigrationInterface, QueryRunner } from 'typeorm';

/** API keys and their secrets. */
export class ApiKeys1700000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table api_keys (
        id text collate "C" primary key,
        name text not null,
        hint text not null,
        scopes text[] not null,
        limits jsonb not null default '{}',
        created_at timestamptz not null default now(),
        expires_at timestamptz,
        revoked_at timestamptz,
        last_used_at timestamptz
      )`);
    // The hash is the primary key, so authentication is one index probe, for valid and unknown keys alike.
    await runner.query(`
      create table api_key_secrets (
        hash bytea primary key check (length(hash) = 32),
        api_key_id text collate "C" not null references api_keys (id) on delete cascade,
        created_at timestamptz not null default now(),
        expires_at timestamptz
      )`);
    // At most one current secret per key, even when two rotations race.
    await runner.query(
      `create unique index api_key_secrets_current on api_key_secrets (api_key_id) where expires_at is null`,
    );
    await runner.query(`create index api_key_secrets_api_key on api_key_secrets (api_key_id)`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
