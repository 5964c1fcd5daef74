import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';
import { defineChoice } from '../platform/schema/choice.ts';

const HEALTH_STATUSES = ['operational', 'degraded', 'unavailable'] as const;
const HealthChoice = defineChoice('ModelHealthStatus', HEALTH_STATUSES, 'How well a model works now.');

@ObjectType('ModelHealth', { description: 'How well a model works now, over all API keys.' })
export class ModelHealthView {
  @ApiField.oneOf(
    HealthChoice,
    '`degraded`: a provider is not called for a while, or fewer than 9 in 10 tasks succeed. `unavailable`: no provider can serve the model',
  )
  status: (typeof HEALTH_STATUSES)[number];
  @ApiField.integer('tasks that wait') queued: number;
  @ApiField.integer('tasks that run') running: number;
  @ApiField.number('median of the last 200 successes, in seconds from start to end; null without any', {
    nullable: true,
  })
  median_run_s: number | null;
  @ApiField.number(
    'part of the tasks of the last hour that succeeded, 0 to 1, without cancelled tasks and refused content; null: none has ended',
    {
      nullable: true,
    },
  )
  success_rate: number | null;
  @ApiField.long('unix seconds; at most ten seconds old') sampled_at: number;
}
