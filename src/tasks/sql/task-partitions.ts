import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { droppedBelow } from '../../platform/database/partitions/dropped-below.ts';
import { PartitionSweep } from '../../platform/database/partitions/partition-sweep.ts';
import { Sql } from '../../platform/database/sql.ts';
import { TASK_TABLES } from '../record/partitioned-tables.ts';

/** Rows below this bound are not deleted one by one, because their partition will be dropped; empty: there are none. */
export const DROPPED_BELOW = droppedBelow(TASK_TABLES.tables[0].name);

/** Tasks of one statement. */
const AT_ONCE = 5_000;

/**
 * Tasks that failed may have left files too, which are deleted with the record. A time at which they expire makes the purge find them.
 */
const giveFilesATime = (partition: string): string => `
  update ${partition} t set files_expire_at = expires_at
  from (select id from ${partition} where status = 'failed' and attempt > 0 and files_expire_at is null and not files_purged
        limit ${AT_ONCE} for update) failed
  where t.id = failed.id`;

/** SQL: whether something in it is visible, unfinished or has files. Each is the first entry of an index. */
const isNeeded = (partition: string): string => `(
  exists (select from ${partition} where completed_at is null)
  or exists (select from ${partition} where status in ('succeeded', 'failed') and expires_at > now())
  or exists (select from ${partition} where files_expire_at is not null and not files_purged))`;

/** When the partitions of tasks may be dropped. */
@Injectable()
export class TaskPartitions implements OnModuleInit {
  private readonly guards: ((partition: string) => string)[] = [isNeeded];

  constructor(
    private readonly sql: Sql,
    private readonly config: Config,
    private readonly sweep: PartitionSweep,
  ) {}

  onModuleInit(): void {
    this.sweep.register({
      ...TASK_TABLES,
      retentionDays: this.config.taskRetentionDays,
      keeps: ([partition]) => this.guards.map((guard) => guard(partition!)).join(' or '),
      prepareDrop: async ([partition]) => {
        while ((await this.run(giveFilesATime(partition!))) === AT_ONCE);
      },
    });
  }

  /** @param guard SQL of an upper module: whether a partition must stay */
  registerGuard(guard: (partition: string) => string): void {
    this.guards.push(guard);
  }

  private run(text: string): Promise<number> {
    return this.sql.transaction(async (tx) => (await tx.query(text)).rowCount ?? 0);
  }
}
