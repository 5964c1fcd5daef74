import { budget, budgetOf } from './budget-options.ts';
import { NONE } from './options.ts';

describe('the option --budget', () => {
  it('is an exact amount and a period', () => {
    expect(budget('25/month')).toEqual({ amount_micros: 25_000_000, period: 'month' });
    expect(budget('0.000001/day')).toEqual({ amount_micros: 1, period: 'day' });
    expect(budget('2.50/total')).toEqual({ amount_micros: 2_500_000, period: 'total' });
  });

  it.each(['25', '25/week', '-1/day', '0.0000001/day', '1,5/day', '/day'])('is not %s', (text) => {
    expect(() => budget(text)).toThrow('such as 12.50/month');
  });

  it('takes a soft share only together with a budget', () => {
    expect(budgetOf({ budget: budget('1/day'), budgetSoftPercent: 80 })).toMatchObject({ soft_percent: 80 });
    expect(budgetOf<typeof NONE>({ budget: NONE })).toBe(NONE);
    expect(() => budgetOf<typeof NONE>({ budget: NONE, budgetSoftPercent: 80 })).toThrow('give both');
    expect(() => budgetOf({ budgetSoftPercent: 80 })).toThrow('give both');
  });
});
