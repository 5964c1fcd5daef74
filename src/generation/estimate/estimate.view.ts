import { ObjectType } from '@nestjs/graphql';
import { type MediaKind, MediaKindChoice } from '../../models/definition/media-kind.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { CostView } from '../../tasks/read/task.view.ts';

@ObjectType('Estimate', { description: 'What a generation would cost, and how long it would take.' })
export class EstimateView {
  @ApiField.constant('estimate') object: 'estimate';
  @ApiField.string('id of the model', { example: 'gpt-image-2' }) model: string;
  @ApiField.oneOf(MediaKindChoice, 'what the model makes') kind: MediaKind;
  @ApiField.json('the parameters as resolved, with the defaults') input: Record<string, unknown>;
  @ApiField.object(() => CostView, 'the highest price among its providers; `unpriced` if none has one')
  cost: CostView;
  @ApiField.long('unix seconds; null: unknown', { nullable: true }) estimated_start_at: number | null;
  @ApiField.long('unix seconds; null: unknown', { nullable: true }) estimated_completion_at: number | null;
  @ApiField.boolean('whether the budget of the API key has room for it now; true without a budget')
  within_budget: boolean;
}
