import { InputType, ObjectType } from '@nestjs/graphql';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { type Budget, BUDGET_PERIODS, type BudgetPeriod, type BudgetState } from './budget.ts';

const MAX_AMOUNT = 1_000_000_000_000_000; // a billion of the currency

const BudgetPeriodChoice = defineChoice('BudgetPeriod', BUDGET_PERIODS, 'How long a budget lasts, in UTC.');

@InputType('BudgetInput', { description: 'What the tasks of an API key may cost in each period.' })
export class BudgetInput implements Budget {
  @ApiField.long('micro-units of the currency: 1,000,000 are 1', { min: 0, max: MAX_AMOUNT }) amount_micros: number;
  @ApiField.oneOf(BudgetPeriodChoice, 'day and month are those of UTC; total never starts again') period: BudgetPeriod;
  @ApiField.integer('a webhook reports when this share of the amount is spent or reserved', {
    optional: true,
    min: 1,
    max: 99,
  })
  soft_percent?: number;
}

@ObjectType('Budget', { description: 'What the tasks of an API key may cost in each period.' })
export class BudgetView {
  @ApiField.long('micro-units of the currency: 1,000,000 are 1') amount_micros: number;
  @ApiField.oneOf(BudgetPeriodChoice, 'how long the amount lasts, in UTC') period: BudgetPeriod;
  @ApiField.integer('the share that a webhook reports; null: none', { nullable: true }) soft_percent: number | null;
}

@ObjectType('BudgetStatus', { description: 'How much of a budget is used in its current period.' })
export class BudgetStatusView {
  @ApiField.long('cost of the tasks that were created in the period and are final') spent_micros: number;
  @ApiField.long('estimated cost of the tasks that are not final') reserved_micros: number;
  @ApiField.long('unix seconds') period_start: number;
  @ApiField.long('unix seconds; null: the period has no end', { nullable: true }) period_end: number | null;
}

export const toBudgetView = ({ amount_micros, period, soft_percent }: Budget): BudgetView => ({
  amount_micros,
  period,
  soft_percent: soft_percent ?? null,
});

export const toBudgetStatus = (state: BudgetState): BudgetStatusView => ({
  spent_micros: state.spent_micros,
  reserved_micros: state.reserved_micros,
  period_start: state.period_start,
  period_end: state.period_end,
});
