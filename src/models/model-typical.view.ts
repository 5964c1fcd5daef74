import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../platform/schema/api-field.ts';

@ObjectType('ModelTypical', { description: 'How long tasks of a model took lately, over all API keys.' })
export class ModelTypicalView {
  @ApiField.integer('how many succeeded tasks the times were measured on: the last 200 at most') tasks: number;
  @ApiField.integer('milliseconds from creation to start, median') wait_p50_ms: number;
  @ApiField.integer('milliseconds from start to end, median') run_p50_ms: number;
  @ApiField.integer('milliseconds from start to end, 95th percentile') run_p95_ms: number;
}
