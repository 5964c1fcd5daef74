import { changesOf, textsOf } from './limits.ts';

const limits = {
  createsPerMinute: 60,
  readsPerMinute: 600,
  maxRunning: 4,
  maxQueued: 0,
  maxFileBytes: 1_000,
  maxRequestFileBytes: 2_000,
  maxKeptBytes: 3_000,
  weight: 10,
  budget: { amountMicros: 12_500_000, period: 'MONTH' as const, softPercent: 80 },
};

describe('the limits of a form', () => {
  const before = textsOf(limits);

  it('are nothing when nothing has changed', () => expect(changesOf({ ...before }, before)).toBeUndefined());

  it('name only what has changed, and take an emptied field back to the configured value', () => {
    const texts = { ...before, limits: { ...before.limits, maxRunning: '8', maxQueued: '' } };
    expect(changesOf(texts, before)).toEqual({ maxRunning: 8, maxQueued: null });
  });

  it('count money in micro-units, without the rounding of binary fractions', () => {
    expect(changesOf({ ...before, amount: '0.29' }, before)).toEqual({
      budget: { amountMicros: 290_000, period: 'MONTH', softPercent: 80 },
    });
  });

  it('end a budget whose amount is emptied', () => {
    expect(changesOf({ ...before, amount: '' }, before)).toEqual({ budget: null });
  });

  it('of a new key are those that were filled in', () => {
    const empty = textsOf(null);
    expect(changesOf(empty, empty)).toBeUndefined();
    expect(changesOf({ ...empty, limits: { ...empty.limits, weight: '20' } }, empty)).toEqual({ weight: 20 });
  });
});
