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

describe('a paid call of a run', () => {
  it('is in flight from the announcement of a job until the id of the job is known', async () => {
    const { signal } = new AbortController();
    const lease = { moments: { nowMs: () => 0 }, mayBuy: true, isCalling: true, signal } as unknown as Parts[1];
    const queue = { submitAccepted: async () => true };
    const run = new ProviderRun(
      { upstream_id: null } as Parts[0],
      lease,
      { provider: 'fal' } as Parts[2],
      { queue } as unknown as Parts[3],
    );
    const seen: boolean[] = [];
    for (const ids of ['job_1', 'job_1,?', 'job_1,job_2']) {
      await run.submitted(ids);
      seen.push(lease.isCalling);
    }
    expect(seen).toEqual([false, true, false]);
  });
});
