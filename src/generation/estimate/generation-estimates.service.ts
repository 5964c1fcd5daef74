import { Injectable } from '@nestjs/common';
import { KeyBudgets } from '../../auth/limits/key-budgets.ts';
import type { Caller } from '../../auth/access/caller.ts';
import { GenerationsService } from '../accept/generations.service.ts';
import { EstimatesService } from '../../tasks/insight/estimates.service.ts';
import { Costs } from '../accept/costs.ts';
import type { EstimateView } from './estimate.view.ts';

@Injectable()
export class GenerationEstimatesService {
  constructor(
    private readonly generations: GenerationsService,
    private readonly costs: Costs,
    private readonly tasks: EstimatesService,
    private readonly budgets: KeyBudgets,
  ) {}

  /**
   * @throws ApiError for an invalid request, as a creation does. A paused model, a full queue or an exhausted budget is
   *   no error here.
   */
  async estimate(caller: Caller, body: unknown): Promise<EstimateView> {
    const { model, input, priority } = await this.generations.check(caller, body);
    const cost = this.costs.of(model, input);
    return {
      object: 'estimate',
      model: model.id,
      kind: model.kind,
      input: { ...input },
      cost,
      ...(await this.tasks.ofNew(caller, { model: model.id, input: { ...input }, isLow: priority === 'low' })),
      within_budget: await this.isWithinBudget(caller, cost.amount_micros),
    };
  }

  private async isWithinBudget({ apiKeyId, hasBudget, bounds = [] }: Caller, micros: number): Promise<boolean> {
    if (!hasBudget) return true;
    const budgets = await this.budgets.of([apiKeyId, ...bounds.map((bound) => bound.apiKeyId)]);
    return [...budgets.values()].every(
      (budget) => budget.spent_micros + budget.reserved_micros + micros <= budget.amount_micros,
    );
  }
}
