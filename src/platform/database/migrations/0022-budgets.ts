import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Budgets of API keys. Only a key that has or had a budget has a row, and only its tasks fill the new columns. Processes of
 * the last release do neither: they know no budgets.
 */
export class Budgets1700000000022 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`
      create table key_budgets (
        api_key_id text collate "C" primary key,
        amount_micros bigint,
        period text check (period in ('day', 'month', 'total')),
        soft_percent smallint,
        day date not null,
        day_spent bigint not null default 0,
        day_reserved bigint not null default 0,
        month_spent bigint not null default 0,
        month_reserved bigint not null default 0,
        total_spent bigint not null default 0,
        total_reserved bigint not null default 0,
        threshold_of date,
        exceeded_of date
      ) with (fillfactor = 50)`);
    await runner.query('alter table tasks add column budget_day date, add column reserved_micros bigint');
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
