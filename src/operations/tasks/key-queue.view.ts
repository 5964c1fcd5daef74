import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

const OF_A_KEY = { nullable: true };

@ObjectType('KeyQueue', { description: 'The load of an API key against its limits, and what went wrong lately.' })
export class KeyQueueView {
  @ApiField.string('the API key') api_key_id: string;
  @ApiField.string('its name; null when it was deleted', OF_A_KEY) name: string | null;
  @ApiField.integer('queued tasks') queued: number;
  @ApiField.integer('running tasks') running: number;
  @ApiField.number('seconds for which its oldest queued task has waited; null: none is queued', OF_A_KEY)
  oldest_waiting_s: number | null;
  @ApiField.integer('most tasks at once; 0: no limit; null for a deleted key', OF_A_KEY) max_running: number | null;
  @ApiField.integer('most queued tasks; 0: no limit; null for a deleted key', OF_A_KEY) max_queued: number | null;
  @ApiField.integer('creations a minute; 0: no limit; null for a deleted key', OF_A_KEY)
  creates_per_minute: number | null;
  @ApiField.integer('reads a minute; 0: no limit; null for a deleted key', OF_A_KEY) reads_per_minute: number | null;
  @ApiField.integer('its weight: share of worker time beside other keys; null for a deleted key', OF_A_KEY)
  weight: number | null;
  @ApiField.integer('requests over a rate limit in the last hour') refused_last_hour: number;
  @ApiField.integer('tasks that failed in the last hour, other than by a cancel') failed_last_hour: number;
  @ApiField.long('unix seconds; null: never', OF_A_KEY) last_used_at: number | null;
}
