import { eventually } from '../../../test/support/wait.ts';
import { ProviderRun } from './provider-run.ts';

type Parts = ConstructorParameters<typeof ProviderRun>;

describe('the progress of a run', () => {
  it('never falls and ignores what is not a number', async () => {
    const written: number[] = [];
    const queue = { recordProgress: async (_lease: unknown, percent: number) => void written.push(percent) };
    const task = { progress: 10 } as Parts[0];
    const run = new ProviderRun(
      task,
      { moments: {}, mayBuy: true } as Parts[1],
      {} as Parts[2],
      { queue } as unknown as Parts[3],
    );
    for (const percent of [NaN, 20, -5, NaN]) run.progress(percent);
    await eventually('the first write', async () => written.includes(20));
    for (const percent of [15, Infinity]) run.progress(percent);
    await eventually('the second write', async () => written.includes(99));
    expect(written).toEqual([20, 99]);
    await run.close();
  });
});
