import { InvalidArgumentError } from 'commander';
import type { Budget, BudgetPeriod } from '../../auth/limits/budget.ts';
import { NONE } from './options.ts';

export interface BudgetOptions<Limit> {
  budget?: Budget | Extract<Limit, typeof NONE>;
  budgetSoftPercent?: number;
}

const SYNTAX = /^([0-9]{1,9})(?:\.([0-9]{1,6}))?\/(day|month|total)$/;

/** `12.50/month`: an amount of the currency per day, per month or in total. */
export function budget(text: string): Budget {
  const [, whole, places = '', period] = SYNTAX.exec(text) ?? [];
  if (whole === undefined) {
    throw new InvalidArgumentError('It must be an amount of at most 6 places and a period, such as 12.50/month.');
  }
  return { amount_micros: Number(whole + places.padEnd(6, '0')), period: period as BudgetPeriod };
}

/**
 * The budget that these options set. NONE: the budget is removed. undefined: --budget was not given.
 * @throws Error for --budget-soft-percent without an amount
 */
export function budgetOf<Limit>({ budget: given, budgetSoftPercent }: BudgetOptions<Limit>) {
  if (budgetSoftPercent === undefined) return given;
  if (!given || given === NONE) throw new Error('--budget-soft-percent is a share of a --budget, so give both.');
  return { ...given, soft_percent: budgetSoftPercent };
}
