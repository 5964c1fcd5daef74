import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';

const HEALTH_STATUSES = ['operational', 'degraded', 'unavailable'] as const;
const HealthChoice = defineChoice('ModelHealthStatus', HEALTH_STATUSES, 'How well a model works now.');

@ObjectType('ModelHealth', { description: 'How well a model works now, over all API keys.' })
export class ModelHealthView {
  @ApiField.oneOf(
    HealthChoice,
    'degraded: calls to a provider are suspended, or fewer than 9 in 10 tasks succeed; unavailable: no provider can serve it',
  )
  status: (typeof HEALTH_STATUSES)[number];
  @ApiField.integer('tasks that wait') queued: number;
  @ApiField.integer('tasks that run') running: number;
  @ApiField.number('median of the last 200 successes, in seconds from start to end; null without any', {
    nullable: true,
  })
  median_run_s: number | null;
  @ApiField.number('0 to 1, of the last hour, without cancels and refusals of the content; null without any end', {
    nullable: true,
  })
  success_rate: number | null;
  @ApiField.long('unix seconds; at most ten seconds old') sampled_at: number;
}
