import { type BudgetPeriod, isWithin } from './budget.ts';

const budget = (amount_micros: number, period: BudgetPeriod) => ({ amount_micros, period });

describe('a budget is within another one', () => {
  it('when it allows no more, at no faster rate', () => {
    expect(isWithin(budget(5, 'day'), budget(5, 'day'))).toBe(true);
    expect(isWithin(budget(5, 'month'), budget(5, 'day'))).toBe(true);
    expect(isWithin(budget(5, 'total'), budget(5, 'month'))).toBe(true);
  });

  it('but not when it allows more, starts a new period sooner, or is missing', () => {
    expect(isWithin(budget(6, 'day'), budget(5, 'day'))).toBe(false);
    expect(isWithin(budget(1, 'day'), budget(5, 'month'))).toBe(false);
    expect(isWithin(budget(5, 'month'), budget(5, 'total'))).toBe(false);
    expect(isWithin(undefined, budget(5, 'total'))).toBe(false);
  });
});
