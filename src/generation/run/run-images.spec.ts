import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { findModel } from '../../models/catalog.ts';
import { loadConfig } from '../../platform/config/config.ts';
import type { Metrics } from '../../platform/observe/measuring/metrics.ts';
import type { InputImage } from '../../providers/contract/provider.ts';
import type { ClaimedTask } from '../../tasks/record/lease.ts';
import type { ReferenceImages } from '../images/reference-images.ts';
import { ScratchBudget } from '../images/scratch-budget.ts';
import { MustWait } from './must-wait.ts';
import { RunImages } from './run-images.ts';

const MB = 1_000_000;
const BUDGET = 320 * MB;
const task = {
  api_key_id: 'a',
  input: { prompt: 'x', reference_images: ['https://images.example/1.png'] },
} as unknown as ClaimedTask;

/** @param bytes that the fetched image has */
function setUp(bytes: number) {
  const metrics = { registry: new Registry() } as Metrics;
  const budget = new ScratchBudget(loadConfig({ SCRATCH_MAX_BYTES: String(BUDGET) }), metrics);
  const fetched: string[] = [];
  const referenceImages = {
    mostBytesOf: async () => 20 * MB,
    fetchAll: async (_fields: unknown, { folder }: { folder: string }): Promise<InputImage[]> => {
      const path = join(folder, 'image-0');
      writeFileSync(path, 'x');
      fetched.push(path);
      return [{ path, size: bytes, contentType: 'image/png', width: 1, height: 1 }];
    },
  };
  const services = { budget, referenceImages: referenceImages as unknown as ReferenceImages };
  const images = new RunImages(task, findModel('gpt-image-2')!, new AbortController().signal, services);
  /** Whether nothing is reserved. */
  const isFree = (): boolean => {
    const all = budget.reserve('b', BUDGET);
    all?.release();
    return all !== null;
  };
  return { images, fetched, isFree, budget, referenceImages };
}

describe('the reference images of a run', () => {
  it('are fetched once, however often the run needs them', async () => {
    const { images, fetched, isFree } = setUp(5 * MB);
    expect(await images.get()).toBe(await images.get());
    expect(fetched).toHaveLength(1);
    expect(isFree()).toBe(false);
    await images.release();
    expect([isFree(), existsSync(fetched[0]!)]).toEqual([true, false]);
  });

  it('are fetched again after their release', async () => {
    const { images, fetched, isFree } = setUp(5 * MB);
    await images.get();
    await images.release();
    const { references } = await images.get();
    expect(references.map(({ path }) => existsSync(path))).toEqual([true]);
    expect(fetched).toHaveLength(2);
    await images.release();
    await images.release();
    expect(isFree()).toBe(true);
  });

  it('reserve nothing after a failed fetch', async () => {
    const { images, isFree, referenceImages } = setUp(5 * MB);
    referenceImages.fetchAll = () => Promise.reject(new Error('gone'));
    await expect(images.get()).rejects.toThrow('gone');
    expect(isFree()).toBe(true);
  });

  it('wait while the budget has no room', async () => {
    const { images, budget } = setUp(5 * MB);
    const all = budget.reserve('b', BUDGET)!;
    await expect(images.get()).rejects.toBeInstanceOf(MustWait);
    all.release();
    await images.get();
    await images.release();
  });
});
