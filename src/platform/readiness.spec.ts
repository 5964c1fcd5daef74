import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readiness } from './readiness.ts';

/** Longer than a report is shared. */
const NEXT_REPORT_MS = 600;
const fails = () => Promise.reject(new Error('away'));

describe('readiness', () => {
  beforeAll(() => Logger.overrideLogger(false));

  it('reports an optional check that fails, and stays ready', async () => {
    const readiness = new Readiness();
    readiness.register('database', async () => 1);
    readiness.register('events', fails, { isOptional: true });
    expect(await readiness.report()).toEqual({ ready: true, checks: { database: 'ok', events: 'failed' } });
  });

  it('repeats a check only after its time to live, unless it failed', async () => {
    const readiness = new Readiness();
    const runs = { storage: 0, broken: 0 };
    readiness.register('storage', async () => runs.storage++, { ttlMs: 60_000 });
    readiness.register('broken', () => (runs.broken++, fails()), { ttlMs: 60_000 });
    await readiness.report();
    await sleep(NEXT_REPORT_MS);
    await readiness.report();
    expect(runs).toEqual({ storage: 1, broken: 2 });
  });

  it('is over at once when the service stops', async () => {
    const readiness = new Readiness();
    readiness.register('database', async () => 1);
    expect((await readiness.report()).ready).toBe(true);
    readiness.stop();
    expect(await readiness.report()).toEqual({ ready: false, checks: { process: 'stopping' } });
  });
});
