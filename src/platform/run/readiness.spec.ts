import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { stopClock } from '../../../test/support/clock.ts';
import { Readiness } from './readiness.ts';

let nowMs: number;
/** The clock goes on, but no timer runs. */
const block = (ms: number) => (nowMs += ms);
const TICK_MS = 500;
/** The event loop turns all the while. */
const pass = (ms: number) => {
  for (; ms > 0; ms -= TICK_MS) {
    nowMs += TICK_MS;
    jest.advanceTimersByTime(TICK_MS);
  }
};
const fails = () => Promise.reject(new Error('away'));

describe('readiness', () => {
  beforeAll(() => Logger.overrideLogger(false));
  beforeEach(() => {
    stopClock();
    nowMs = 60_000;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
  });
  afterEach(() => {
    jest.restoreAllMocks();
    jest.useRealTimers();
  });

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
    block(500);
    await readiness.report();
    expect(runs).toEqual({ storage: 1, broken: 1 }); // the same report
    block(1);
    await readiness.report();
    expect(runs).toEqual({ storage: 1, broken: 2 });
    block(60_000);
    await readiness.report();
    expect(runs).toEqual({ storage: 2, broken: 3 });
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
    block(60_000);
    expect(readiness.ofProcess().ready).toBe(true); // before the first tick: a slow start
    pass(TICK_MS);
    block(TICK_MS + 2_000);
    expect(readiness.ofProcess().ready).toBe(true);
    block(1);
    expect(readiness.ofProcess()).toEqual({ ready: false, checks: { process: 'stuck' } });
    pass(4_500);
    expect(readiness.ofProcess().ready).toBe(false);
    pass(1_000);
    expect(readiness.ofProcess().ready).toBe(true);
  });

  it('is over at once when the service stops', async () => {
    const readiness = new Readiness();
    readiness.register('database', async () => 1);
    expect((await readiness.report()).ready).toBe(true);
    readiness.stop();
    expect(await readiness.report()).toEqual({ ready: false, checks: { process: 'draining' } });
  });
});
