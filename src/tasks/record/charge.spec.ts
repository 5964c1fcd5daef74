import type { Ending } from './ending.ts';
import type { StoredOutput } from './task.entity.ts';
import { taskError, type TaskErrorCode } from './task-error.ts';
import { chargeOf } from './charge.ts';
import type { FixedPrice, RunUsage } from './task-usage.ts';

const run: RunUsage = { provider: 'openai', price: null, tokens: null, billing: null, cancelled_unrun: false };
const image = { type: 'image' } as StoredOutput;
const video = (duration: number) => ({ type: 'video', duration }) as StoredOutput;

const success = (price: FixedPrice | null, result: StoredOutput[], usage: Partial<RunUsage> = {}) =>
  chargeOf({ outcome: { status: 'succeeded', result }, usage: { ...run, price, ...usage } }, 'EUR');
const failure = (code: TaskErrorCode, usage?: Partial<RunUsage>) => {
  const ending: Pick<Ending, 'outcome' | 'usage'> = { outcome: { status: 'failed', error: taskError(code) } };
  return chargeOf(usage ? { ...ending, usage: { ...run, ...usage } } : ending, 'EUR');
};

describe('the charge of a success', () => {
  it('is the price of what was made', () => {
    const price = { per_task: 1, per_image: 40_000, full: 120_001 };
    expect(success(price, [image, image])).toEqual({
      rule: null,
      micros: 80_001,
      basis: 'priced',
      images: 2,
      video_seconds: 0,
      provider: 'openai',
      usage: {
        provider: 'openai',
        input_tokens: null,
        output_tokens: null,
        cost_micros: 80_001,
        currency: 'EUR',
        basis: 'priced',
      },
    });
    expect(success({ per_second: 150_000, full: 600_000 }, [video(4.04)])).toMatchObject({
      micros: 600_000,
      images: 0,
      video_seconds: 4,
    });
  });

  it('is that of the tokens where they have a price and were reported, rounded once, half up', () => {
    const price = { per_task: 1, per_image: 9, per_million_input_tokens: 500_000, full: 10 };
    const tokens = { input: 9, output: 1290 };
    expect(success(price, [image], { tokens })).toMatchObject({ micros: 1 + 5, basis: 'reported' });
    expect(success(price, [image])).toMatchObject({ micros: 10, basis: 'priced' });
    expect(success({ per_image: 9, full: 9 }, [image], { tokens })).toMatchObject({ micros: 9, basis: 'priced' });
    const free = { per_image: 9, per_million_output_tokens: 0, full: 9 };
    expect(success(free, [image], { tokens })).toMatchObject({ micros: 0, basis: 'reported' });
  });

  it('is exact beyond what a product of numbers holds', () => {
    const tokens = { input: 9_007_199_254_741, output: 1 };
    const price = { per_million_input_tokens: 999_999, per_million_output_tokens: 500_000 };
    expect(success(price, [image], { tokens }).micros).toBe(9_007_190_247_542);
  });

  it('includes calls that made nothing and may have been charged', () => {
    const price = { per_task: 1, per_image: 40_000, full: 120_001 };
    const lost = { micros: 120_001, basis: 'assumed', images: 2 };
    expect(success(price, [image, image], { unknown_calls: 1 })).toMatchObject(lost);
    expect(success(null, [image], { unknown_calls: 1 })).toMatchObject({ micros: 0, basis: 'unpriced' });
  });

  it('is unpriced without a price, and with one by tokens alone that were not reported', () => {
    expect(success(null, [image])).toMatchObject({ micros: 0, basis: 'unpriced', rule: null });
    expect(success({ per_million_output_tokens: 7 }, [image])).toMatchObject({ micros: 0, basis: 'unpriced' });
    expect(success({ full: 0 }, [image])).toMatchObject({ micros: 0, basis: 'priced' });
  });
});

describe('the charge of a failure', () => {
  it.each<[TaskErrorCode, Partial<RunUsage> | undefined, string, string]>([
    ['task_cancelled', undefined, 'stopped', 'assumed'],
    ['task_deadline_exceeded', undefined, 'stopped', 'assumed'],
    ['task_deadline_exceeded', { cancelled_unrun: false }, 'stopped', 'assumed'],
    ['provider_rejected', { billing: 'charged' }, 'failed', 'priced'],
    ['content_policy_violation', { billing: 'charged' }, 'failed', 'priced'],
    ['provider_outcome_unknown', { billing: 'charged' }, 'full', 'assumed'],
    ['provider_timeout', { billing: 'unknown' }, 'full', 'assumed'],
    ['worker_lost', undefined, 'full', 'assumed'],
  ])('%s with %j is the amount "%s" of its price, %s', (code, usage, rule, basis) => {
    expect(failure(code, usage)).toMatchObject({ rule, basis, micros: null, usage: null, images: 0 });
  });

  it('is nothing when the provider has confirmed that the job never ran', () => {
    const charge = failure('task_deadline_exceeded', { cancelled_unrun: true });
    expect(charge).toMatchObject({ rule: null, micros: 0, basis: 'free' });
    expect(failure('worker_lost', { cancelled_unrun: true })).toMatchObject({ rule: 'full', basis: 'assumed' });
  });
});
