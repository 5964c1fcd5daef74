import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';

@ObjectType('TaskCounts', { description: 'How many tasks have each status.' })
export class TaskCountsView {
  @ApiField.integer('waiting tasks') queued: number;
  @ApiField.integer('running tasks') running: number;
  @ApiField.integer('succeeded tasks, among the final ones that were counted') succeeded: number;
  @ApiField.integer('failed tasks, among the final ones that were counted') failed: number;
  @ApiField.integer('cancelled tasks; `failed` counts them too') cancelled: number;
  @ApiField.boolean('whether there are more: at most 10,000 unfinished and the 10,000 newest final tasks are counted')
  capped: boolean;
}
