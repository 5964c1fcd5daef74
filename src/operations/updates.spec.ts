import { Updates } from './updates.ts';

describe('the views of a subscriber', () => {
  it('are due at once and then not more often than allowed', async () => {
    const updates = new Updates(50, () => undefined);
    const begunMs = performance.now();
    expect(await updates.next()).toEqual({ done: false, value: true });
    expect(performance.now() - begunMs).toBeLessThan(40);
    await updates.next();
    await updates.next();
    expect(performance.now() - begunMs).toBeGreaterThan(95);
    await updates.return();
  });

  it('are not made up for when the subscriber was slow', async () => {
    const updates = new Updates(20, () => undefined);
    await updates.next();
    await new Promise((resolve) => setTimeout(resolve, 70));
    const begunMs = performance.now();
    await updates.next(); // due long ago
    await updates.next();
    expect(performance.now() - begunMs).toBeGreaterThan(17);
    await updates.return();
  });

  it('end when the subscriber leaves, also while the next one is waited for', async () => {
    let closed = 0;
    const updates = new Updates(60_000, () => (closed += 1));
    await updates.next();
    const pending = updates.next();
    await updates.return();
    await updates.return();
    expect(await pending).toEqual({ done: true, value: undefined });
    expect(await updates.next()).toEqual({ done: true, value: undefined });
    expect(closed).toBe(1);
  });
});
