import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../test/support/wait.ts';
import { Readiness } from './readiness.ts';

/** Longer than a report is shared. */
const NEXT_REPORT_MS = 600;
/** Nothing else runs in this process meanwhile. */
const block = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
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

  it('of the process does not depend on what all processes share', async () => {
    const readiness = new Readiness();
    readiness.register('database', fails);
    expect(readiness.ofProcess()).toEqual({ ready: true, checks: { process: 'ok' } });
    readiness.stop();
    expect(readiness.ofProcess()).toEqual({ ready: false, checks: { process: 'draining' } });
  });

  it('of the process reports an event loop that was blocked', async () => {
    const readiness = new Readiness();
    await sleep(NEXT_REPORT_MS); // the first tick
    block(2_600);
    expect(readiness.ofProcess()).toEqual({ ready: false, checks: { process: 'stuck' } });
    await eventually('the loop to count as sound', async () => readiness.ofProcess().ready, 60_000);
  });

  it('is over at once when the service stops', async () => {
    const readiness = new Readiness();
    readiness.register('database', async () => 1);
    expect((await readiness.report()).ready).toBe(true);
    readiness.stop();
    expect(await readiness.report()).toEqual({ ready: false, checks: { process: 'draining' } });
  });
});
