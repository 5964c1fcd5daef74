import type { MigrationInterface, QueryRunner } from 'typeorm';
import { alone, isFound, together, untilStopped } from './two-tables/steps.ts';
import { VIEW_WITH_PLACES } from './two-tables/tables.ts';

const HAS_PRIORITY = `
  select from pg_attribute where attrelid = 'tasks_live'::regclass and attname = 'priority' and not attisdropped`;

/**
 * SQL: the new place of a task. `priority` was the number of tasks of the same API key ahead of it. For tasks that had
 * waited long, `priority` was up to 11 lower, so it could be negative. For tasks of low priority it began at 16,400.
 */
const PLACE = '1000 * (priority + 11 - case when low then 16400 else 0 end)::bigint';

const ofLane = (low: 'low' | 'not low'): string => `
  (select coalesce(min(place) filter (where waits), max(place) + 1000, 0) from tasks_live where ${low})`;

/**
 * Replaces the column `priority` by `place`, the position in the queue. Waiting tasks keep their order. The service
 * must be stopped, because an older program claims tasks by `priority`.
 */
export class FairLine1700000000051 implements MigrationInterface {
  transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    await alone(runner, async () => {
      if (!(await isFound(runner, HAS_PRIORITY))) return;
      await untilStopped(runner);
      await together(runner, [
        'drop view tasks',
        'alter table tasks_live add column place bigint not null default 0, add column held boolean not null default false',
        `update tasks_live set place = ${PLACE}`,
        '-- squawk-ignore ban-drop-column\nalter table tasks_live drop column priority', // this drops its index too
        '-- squawk-ignore require-concurrent-index-creation\ncreate index tasks_live_waiting on tasks_live (low, place, id) where waits',
        VIEW_WITH_PLACES,
        `create table line (
          id boolean primary key default true check (id),
          place bigint not null,
          low_place bigint not null
        ) with (fillfactor = 20)`,
        `insert into line (place, low_place) values (${ofLane('not low')}, ${ofLane('low')})`,
        `alter table key_load add column place bigint not null default 0, add column low_place bigint not null default 0,
           add column held integer not null default 0`,
        '-- squawk-ignore ban-drop-column\nalter table key_load drop column weight',
        `update key_load l set place = coalesce(t.place, 0), low_place = coalesce(t.low_place, 0)
         from (select api_key_id, max(place + 1000) filter (where not low) as place, max(place + 1000) filter (where low) as low_place
               from tasks_live group by api_key_id) t
         where t.api_key_id = l.api_key_id`,
        'analyze tasks_live',
      ]);
    });
  }

  async down(): Promise<void> {
    throw new Error('Migrations are forward only.');
  }
}
