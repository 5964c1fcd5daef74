export const BUDGET_PERIODS = ['day', 'month', 'total'] as const;
export type BudgetPeriod = (typeof BUDGET_PERIODS)[number];

/**
 * What the tasks of an API key may cost in each period, with the field names of the API. Days and months are those of
 * UTC.
 */
export interface Budget {
  /** Micro-units: 1,000,000 are 1 of the currency. */
  amount_micros: number;
  period: BudgetPeriod;
  /** A webhook reports when this percentage of the amount is spent or reserved. Missing: nothing is reported. */
  soft_percent?: number;
}

/** A budget with what is spent and reserved of it in its current period. Times are unix seconds. */
export interface BudgetState {
  api_key_id: string;
  amount_micros: number;
  spent_micros: number;
  reserved_micros: number;
  period_start: number;
  /** null: the period never ends. */
  period_end: number | null;
}

/**
 * Whether `budget` never allows more than `bound`, over any time. A longer period with the same amount allows less.
 * @param budget undefined: no budget, which allows everything
 */
export function isWithin(budget: Budget | undefined, bound: Budget): boolean {
  if (!budget || budget.amount_micros > bound.amount_micros) return false;
  return BUDGET_PERIODS.indexOf(budget.period) >= BUDGET_PERIODS.indexOf(bound.period);
}

/** `12000000 micro-units per day` */
export const describeBudget = ({ amount_micros, period }: Budget): string =>
  `${amount_micros} micro-units ${period === 'total' ? 'in total' : `per ${period}`}`;
