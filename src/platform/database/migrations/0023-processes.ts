import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The processes of a deployment. Those of the last release write no row, so they are not shown. */
export class Processes1700000000023 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table processes (
        id text collate "C" primary key,
        role text not null check (role in ('all', 'api', 'worker')),
        version text not null,
        host text not null,
        started_at timestamptz not null,
        last_seen_at timestamptz not null,
        slots integer not null,
        busy integer not null,
        drain_requested boolean not null default false,
        draining boolean not null default false,
        lease_margin_s real,
        circuits jsonb not null default '[]'
      ) with (fillfactor = 50)`);
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
