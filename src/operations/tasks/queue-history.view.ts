import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { MAX_MINUTES } from './sql/queue-samples.ts';

const DEFAULT_MINUTES = 60;

const SAMPLED = { nullable: true };

@ObjectType('QueueMinute', {
  description: 'Unfinished tasks of all API keys at the start of a minute. A minute that was not sampled has nulls.',
})
export class QueueMinuteView {
  @ApiField.long('start of the minute, unix seconds') minute: number;
  @ApiField.integer('queued tasks of API keys that are below their limit of running tasks', SAMPLED) waiting:
    number | null;
  @ApiField.integer('queued tasks of API keys that have reached their limit of running tasks', SAMPLED) parked:
    number | null;
  @ApiField.integer('running tasks', SAMPLED) running: number | null;
}

/** Query string of `GET /v1/operations/queue_history`. */
export class QueueHistoryQuery {
  @ApiField.integer('how many minutes back, with the present one', {
    optional: true,
    min: 1,
    max: MAX_MINUTES,
    default: DEFAULT_MINUTES,
    fromQuery: true,
  })
  minutes?: number;
}

export const minutesOf = ({ minutes }: QueueHistoryQuery): number => minutes ?? DEFAULT_MINUTES;
