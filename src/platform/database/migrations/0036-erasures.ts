import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Erasures of API keys: at most one for each key. Processes of the last release do not read it: they erase nothing, and
 * a key under erasure is a revoked one for them.
 */
export class Erasures1700000000036 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table erasures (
        id text collate "C" primary key,
        api_key_id text collate "C" not null unique,
        counts jsonb not null default '{}',
        step text,
        cursor text collate "C",
        created_at timestamptz not null default now(),
        created_by text collate "C",
        finished_at timestamptz,
        attempt integer not null default 0,
        lease_until timestamptz
      )`);
    await runner.query('create index erasures_unfinished on erasures (id) where finished_at is null');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
