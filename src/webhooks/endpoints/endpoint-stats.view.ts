import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import type { EndpointStats } from '../sql/endpoint-stats.ts';

@ObjectType('WebhookHour', { description: 'The attempts of an hour.' })
export class WebhookHourView {
  @ApiField.long('start of the hour, unix seconds') hour: number;
  @ApiField.integer('attempts that were accepted') accepted: number;
  @ApiField.integer('attempts that were not') refused: number;
}

@ObjectType('WebhookStats', {
  description: 'Recent figures of an endpoint. An event counts once, by its current state.',
})
export class EndpointStatsView {
  @ApiField.integer('events that it accepted') delivered: number;
  @ApiField.integer('events that it did not accept, and that are not sent again') failed: number;
  @ApiField.integer('events that it did not accept yet, and that will be sent again') waiting: number;
  @ApiField.integer('milliseconds; the median of the accepted attempts; null without any', { nullable: true })
  p50_ms: number | null;
  @ApiField.long('unix seconds of the last attempt, however long ago; null before the first', { nullable: true })
  last_attempted_at: number | null;
  @ApiField.integer('HTTP status of the last attempt; null if none arrived', { nullable: true })
  last_status_code: number | null;
  @ApiField.list(() => WebhookHourView, 'hours with attempts, the oldest first') hourly: WebhookHourView[];
}

export class EndpointStatsQuery {
  @ApiField.integer('hours to look back, 24 when left out', { optional: true, min: 1, max: 720, fromQuery: true })
  hours?: number;
}

export const toStatsView = ({ last_attempted_at, ...stats }: EndpointStats): EndpointStatsView => ({
  ...stats,
  last_attempted_at: last_attempted_at && unixSeconds(last_attempted_at),
});
