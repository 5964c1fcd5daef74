import { Registry } from 'prom-client';
import { loadConfig } from '../../platform/config/config.ts';
import type { Metrics } from '../../platform/observe/measuring/metrics.ts';
import { ScratchBudget } from './scratch-budget.ts';

const MB = 1_000_000;

const budgetOf = (megabytes: number) => {
  const registry = new Registry();
  const metrics = { registry } as Metrics;
  const budget = new ScratchBudget(loadConfig({ SCRATCH_MAX_BYTES: String(megabytes * MB) }), metrics);
  const reserved = async () => {
    const { values } = (await registry.getSingleMetric('darkroom_reference_image_bytes_reserved')?.get()) ?? {
      values: [],
    };
    return values[0]?.value;
  };
  return { budget, reserved };
};

it('lets a key hold as much as it leaves free', () => {
  const { budget } = budgetOf(600);
  const most = (key: string) => {
    let reserved = 0;
    while (budget.reserve(key, 10 * MB)) reserved += 10;
    return reserved;
  };
  expect(most('a')).toBe(300);
  expect(most('b')).toBe(150); // the half of what the first one left
  expect(most('c')).toBe(80);
});

it('shares evenly between keys that want as much as they get', () => {
  const { budget } = budgetOf(600);
  const reserved = { a: 0, b: 0 };
  for (let nth = 0; nth < 100; nth += 1) {
    for (const key of ['a', 'b'] as const) if (budget.reserve(key, 10 * MB)) reserved[key] += 10;
  }
  expect(reserved).toEqual({ a: 200, b: 200 }); // and a third for the next key
});

it('always has room for the images of one task', () => {
  const { budget } = budgetOf(320);
  const first = budget.reserve('a', 320 * MB);
  expect(first).not.toBeNull();
  expect(budget.reserve('b', 20 * MB)).toBeNull();
  first!.release();
  expect(budget.reserve('b', 20 * MB)).not.toBeNull();
});

it('grants a task that needs more than everything the whole budget, while nothing else is reserved', () => {
  const { budget } = budgetOf(320);
  const small = budget.reserve('a', MB)!;
  expect(budget.reserve('b', 900 * MB)).toBeNull();
  small.release();
  const large = budget.reserve('b', 900 * MB)!;
  expect(budget.reserve('a', MB)).toBeNull();
  large.release();
  expect(budget.reserve('a', 320 * MB)).not.toBeNull();
});

it('gives back what the files do not need, and each part once', async () => {
  const { budget, reserved } = budgetOf(400);
  const one = budget.reserve('a', 200 * MB)!;
  expect(budget.reserve('a', 20 * MB)).toBeNull();
  one.shrinkTo(5 * MB);
  const two = budget.reserve('a', 180 * MB)!;
  expect(await reserved()).toBe(185 * MB);
  one.shrinkTo(500 * MB); // never grows
  one.release();
  one.release();
  expect(await reserved()).toBe(180 * MB);
  two.release();
  expect(await reserved()).toBe(0);
});
