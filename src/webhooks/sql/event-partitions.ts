import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { droppedBelow } from '../../platform/database/partitions/dropped-below.ts';
import { PartitionSweep } from '../../platform/database/partitions/partition-sweep.ts';
import { EVENT_TABLES } from '../record/partitioned-tables.ts';

/** Events below this bound are not deleted one by one, because their partition will be dropped; empty: there are none. */
export const DROPPED_BELOW = droppedBelow(EVENT_TABLES.tables[0].name);

/** When the partitions of events may be dropped: as soon as no event of theirs is visible. */
@Injectable()
export class EventPartitions implements OnModuleInit {
  constructor(
    private readonly config: Config,
    private readonly sweep: PartitionSweep,
  ) {}

  onModuleInit(): void {
    this.sweep.register({
      ...EVENT_TABLES,
      retentionDays: this.config.taskRetentionDays,
      keeps: ([events]) => `exists (select from ${events} where expires_at > now())`,
    });
  }
}
