import { ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { deliveredOf } from '../record/charge.ts';
import { COST_BASES, type CostBasis, type StoredUsage, type Tokens } from '../record/task-usage.ts';
import type { UsageTerms as Terms } from '../record/usage-terms.ts';

export type UsageTerms = Pick<Terms, 'currency' | 'revealProviders'>;

const CostBasisChoice = defineChoice('CostBasis', COST_BASES, 'How the cost of a task was found.');

@ObjectType('TokenUsage', { description: 'Tokens as the provider reported them.' })
export class TokenUsageView implements Tokens {
  @ApiField.long('tokens of the request') input: number;
  @ApiField.long('tokens of the answer') output: number;
}

@ObjectType('Cost', { description: 'An amount of money.' })
export class CostView {
  @ApiField.long('micro-units: 1,000,000 are 1 of the currency') amount_micros: number;
  @ApiField.string('ISO 4217', { example: 'USD' }) currency: string;
  @ApiField.oneOf(CostBasisChoice, 'how the cost was found') basis: CostBasis;
}

@ObjectType('TaskUsage', { description: 'What a task used and cost.' })
export class TaskUsageView {
  @ApiField.integer('images delivered') images: number;
  @ApiField.integer('whole seconds of video delivered') video_seconds: number;
  @ApiField.string('as resolved', { nullable: true, example: '2K' }) resolution: string | null;
  @ApiField.string('as resolved; null for a model without it', { nullable: true }) quality: string | null;
  @ApiField.string('the provider that served the task; null if none did, or if the operator hides it', {
    nullable: true,
    example: 'openai',
  })
  provider: string | null;
  @ApiField.integer('paid calls made for the task') submits: number;
  @ApiField.object(() => TokenUsageView, 'null when the provider reported none', { nullable: true })
  tokens: TokenUsageView | null;
  @ApiField.object(() => CostView, 'by the prices that were in force at the paid call') cost: CostView;
}

export function toUsageView(task: ShownTask, { currency, revealProviders }: UsageTerms): TaskUsageView {
  const { resolution, quality } = task.input;
  const used = task.usage ?? usageOfOldTask(task, currency);
  const { input_tokens: input, output_tokens: output } = used;
  return {
    ...deliveredOf(task.result ?? []),
    resolution: typeof resolution === 'string' ? resolution : null,
    quality: typeof quality === 'string' ? quality : null,
    provider: revealProviders ? used.provider : null,
    submits: task.submits,
    tokens: output === null ? null : { input: input ?? 0, output },
    cost: { amount_micros: used.cost_micros, currency: used.currency, basis: used.basis },
  };
}

/**
 * Usage of a task that has none stored: it ended in an older release, before usage was recorded, or because its key was
 * revoked.
 */
const usageOfOldTask = ({ started_at }: Pick<ShownTask, 'started_at'>, currency: string): StoredUsage => ({
  provider: null,
  input_tokens: null,
  output_tokens: null,
  cost_micros: 0,
  currency,
  basis: started_at === null ? 'free' : 'unpriced',
});
