import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';

@ObjectType('UsageNumbers', { description: 'Sums over tasks.' })
export class UsageNumbersView {
  @ApiField.long('final tasks: succeeded, failed and cancelled together') tasks: number;
  @ApiField.long('tasks that succeeded') succeeded: number;
  @ApiField.long('tasks that failed, without the cancelled ones') failed: number;
  @ApiField.long('tasks that were cancelled') cancelled: number;
  @ApiField.long('images delivered') images: number;
  @ApiField.long('seconds of video delivered') video_seconds: number;
  @ApiField.long('paid calls') submits: number;
  @ApiField.long('micro-units of the currency, including `assumed_micros`') cost_micros: number;
  @ApiField.long('the part of the cost that is assumed: the provider may have charged it') assumed_micros: number;
  @ApiField.long('tasks for which there is no price; they add nothing to the cost') unpriced_tasks: number;
}

/** REST adds `metadata.<key>` when the request groups by it. */
@ObjectType('UsageResult', { description: 'The sums of one group. A field that is not grouped by is null.' })
export class UsageResultView extends UsageNumbersView {
  @ApiField.constant('usage.result') object: 'usage.result';
  @ApiField.string('id of the model', { nullable: true }) model: string | null;
  @ApiField.string('image or video', { nullable: true }) kind: string | null;
  @ApiField.string('the provider that served the tasks; null also when none did, or when the operator hides it', {
    nullable: true,
  })
  provider: string | null;
  @ApiField.string('as resolved', { nullable: true }) resolution: string | null;
  @ApiField.string('by which interface the tasks were created', { nullable: true }) source: string | null;
  @ApiField.string('id of the batch', { nullable: true }) batch_id: string | null;
  @ApiField.string('why the tasks failed; null also for those that did not', { nullable: true }) error_code:
    string | null;
  @ApiField.string('the API key that owns the tasks', { nullable: true }) api_key_id: string | null;
}

@ObjectType('UsageBucket', { description: 'The usage of a part of the range.' })
export class UsageBucketView {
  @ApiField.constant('bucket') object: 'bucket';
  @ApiField.long('unix seconds') start_time: number;
  @ApiField.long('unix seconds, exclusive') end_time: number;
  @ApiField.list(() => UsageResultView, 'one result for each group; empty if there were no tasks')
  results: UsageResultView[];
}

@ObjectType('UsagePage', { description: 'Usage over time. A task counts at the time at which it became final.' })
export class UsagePageView {
  @ApiField.constant('page') object: 'page';
  @ApiField.string('ISO 4217', { example: 'USD' }) currency: string;
  @ApiField.long('unix seconds up to which tasks are included') as_of: number;
  @ApiField.list(() => UsageBucketView, 'all buckets of the page in order, also those without tasks')
  data: UsageBucketView[];
  @ApiField.object(() => UsageNumbersView, 'sums over the whole range, not over the page') totals: UsageNumbersView;
  @ApiField.boolean('whether another page follows') has_more: boolean;
  @ApiField.string('send it as `page` for the next page; null on the last one', { nullable: true })
  next_page: string | null;
}
