import { jest } from '@jest/globals';
import { ApiError } from '../../errors/api-error.ts';
import { BatchByKey, type LockTimeout } from './batch-by-key.ts';

interface Item {
  api_key_id: string;
}

describe('a batch of several keys, while rows of some are locked', () => {
  let locked: Set<string>;
  let flushes: { keys: string[]; wait: LockTimeout }[];
  let waits: { untilMs: number; end: () => void }[];
  let batch: BatchByKey<Item, string>;

  beforeEach(() => {
    jest.useFakeTimers();
    locked = new Set(['locked']);
    flushes = [];
    waits = [];
    batch = new BatchByKey(
      async (items, wait) => {
        const keys = [...new Set(items.map(({ api_key_id }) => api_key_id))];
        flushes.push({ keys, wait });
        if (keys.some((key) => locked.has(key))) {
          // As PostgreSQL at worst: once for the place in the line, once for the row.
          const gaveUp = Promise.withResolvers<void>();
          waits.push({ untilMs: jest.now() + 2 * Number.parseInt(wait, 10), end: gaveUp.resolve });
          await gaveUp.promise;
          throw Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' });
        }
        return items.map(({ api_key_id }) => `stored for ${api_key_id}`);
      },
      { maxItems: 200, splitInHalf: true },
    );
  });
  afterEach(() => jest.useRealTimers());

  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 50) {
      await jest.advanceTimersByTimeAsync(50);
      for (const { untilMs, end } of waits) if (untilMs <= jest.now()) end();
      waits = waits.filter(({ untilMs }) => untilMs > jest.now());
    }
  }

  /** What became of a creation, and after how many milliseconds. */
  async function create(api_key_id: string): Promise<{ outcome: string; ms: number }> {
    const since = jest.now();
    const outcome = await batch.add({ api_key_id }).catch((error: ApiError) => error.code);
    return { outcome, ms: jest.now() - since };
  }

  it('delays the items of the others by less than a second, whenever they come', async () => {
    const created: Promise<{ outcome: string; ms: number }>[] = [];
    const stuck: Promise<{ outcome: string; ms: number }>[] = [];
    for (let ms = 0; ms < 12_000; ms += 50) {
      stuck.push(create('locked'));
      created.push(create('free'), create(`free ${ms}`));
      await pass(50);
    }
    await pass(10_000);
    for (const { outcome, ms } of await Promise.all(created)) {
      expect(outcome).toMatch(/^stored for free/);
      expect(ms).toBeLessThan(1_000);
    }
    for (const { outcome, ms } of await Promise.all(stuck)) {
      expect(outcome).toBe('service_unavailable');
      expect(ms).toBeLessThan(6_000);
    }
  });

  it('lets a key wait for its own row, and go with the others afterwards', async () => {
    const waiting = create('locked');
    await pass(850);
    locked.clear();
    const next = create('locked');
    await pass(5_000);
    expect((await waiting).outcome).toBe('service_unavailable');
    expect((await next).outcome).toBe('stored for locked');
    flushes.length = 0;
    await Promise.all([pass(10), create('locked'), create('free')]);
    expect(flushes).toEqual([{ keys: ['locked', 'free'], wait: '300ms' }]);
  });

  it('holds few connections for long, however many keys are locked', async () => {
    const keys = Array.from({ length: 30 }, (_, at) => `locked ${at}`);
    locked = new Set(keys);
    const all = Promise.all(keys.map(create));
    await pass(10_000);
    expect(new Set((await all).map(({ outcome }) => outcome))).toEqual(new Set(['service_unavailable']));
    expect(flushes.filter(({ wait }) => wait === '1200ms')).toHaveLength(4);
  });
});
