import { jest } from '@jest/globals';
import { stopClock } from '../../test/support/clock.ts';
import { updates as updatesEvery } from './updates.ts';

const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

describe('the views of a subscriber', () => {
  beforeEach(() => stopClock());
  afterEach(() => jest.useRealTimers());

  it('are due at once and then not more often than allowed', async () => {
    const updates = updatesEvery(50);
    expect(await updates.next()).toEqual({ done: false, value: true });
    for (let nth = 0; nth < 2; nth += 1) {
      const seen = jest.fn();
      const next = updates.next().then(seen);
      await pass(49);
      expect(seen).not.toHaveBeenCalled();
      await pass(1);
      await next;
    }
    await updates.return();
  });

  it('are not made up for when the subscriber was slow', async () => {
    const updates = updatesEvery(20);
    await updates.next();
    await pass(70);
    await updates.next(); // due long ago
    const seen = jest.fn();
    const next = updates.next().then(seen);
    await pass(19);
    expect(seen).not.toHaveBeenCalled();
    await pass(1);
    await next;
    await updates.return();
  });

  it('end when the subscriber leaves, also while the next one is waited for', async () => {
    let closed = 0;
    const updates = updatesEvery(60_000);
    updates.whenClosed(() => (closed += 1));
    await updates.next();
    const pending = updates.next();
    await updates.return();
    await updates.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await updates.next()).toEqual({ done: true, value: undefined });
    expect(closed).toBe(1);
  });
});
