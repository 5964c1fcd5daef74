import { RateWindow } from './rate-window.ts';

const MINUTE_MS = 60_000;

/** The count that processes share, in memory. A window ends only when a test passes a later time. */
class Shared {
  taken = 0;
  leases = 0;

  lend(window: RateWindow, now = 0): void {
    const requested = window.pointsToLease(now);
    this.taken += requested;
    this.leases += 1;
    window.lease(requested, this.taken, now + MINUTE_MS);
  }
}

const newWindow = (limit: number) => new RateWindow('key_1', 'read', limit);

/** Sends requests one at a time to the windows in turn. @returns how many each window admitted */
function spend(requests: number, shared: Shared, windows: RateWindow[]): number[] {
  const through = windows.map(() => 0);
  for (let nth = 0; nth < requests; nth += 1) {
    const at = nth % windows.length;
    while (windows[at]!.needsLease(0)) shared.lend(windows[at]!);
    if (windows[at]!.take()) through[at]! += 1;
  }
  return through;
}

const sum = (numbers: number[]) => numbers.reduce((all, number) => all + number, 0);

describe('the window of a rate limit', () => {
  it.each([1, 2, 5, 49, 50, 51, 100, 599, 6_000])('admits exactly %i requests in one process', (limit) => {
    expect(spend(limit * 2, new Shared(), [newWindow(limit)])).toEqual([limit]);
  });

  it.each([1, 2, 5, 49, 50, 51, 100, 599, 6_000])('admits exactly %i requests in three processes together', (limit) => {
    const windows = Array.from({ length: 3 }, () => newWindow(limit));
    expect(sum(spend(limit * 4, new Shared(), windows))).toBe(limit);
  });

  it('leaves at most 2 % of the limit unused in a process that stops', () => {
    const shared = new Shared();
    const [stopping, running] = [newWindow(1_000), newWindow(1_000)];
    const before = sum(spend(201, shared, [stopping]));
    const after = sum(spend(2_000, shared, [running]));
    expect(before + after).toBeLessThan(1_000);
    expect(before + after).toBeGreaterThanOrEqual(980);
  });

  it('leases about fifty times a minute, and not at all once the window is exhausted', () => {
    const shared = new Shared();
    spend(20_000, shared, [newWindow(6_000)]);
    expect(shared.leases).toBeLessThanOrEqual(51);
  });

  it('leases enough points for all waiting requests', () => {
    const shared = new Shared();
    const window = newWindow(10);
    window.waiting = 7;
    shared.lend(window);
    expect([shared.taken, window.remaining]).toEqual([7, 10]);
  });

  it('reports the rest of the limit, as of the last lease', () => {
    const shared = new Shared();
    const window = newWindow(100);
    expect(spend(30, shared, [window])).toEqual([30]);
    expect(window.remaining).toBe(70);
    expect(window.msLeft(1_000)).toBe(59_000);
  });

  it('spends no points of a window that has ended', () => {
    const shared = new Shared();
    const window = newWindow(100);
    spend(1, shared, [window]);
    expect([window.needsLease(59_999), window.needsLease(60_000)]).toEqual([false, true]);
    shared.taken = 100; // other processes have exhausted the next window
    shared.lend(window, 60_000);
    expect([window.needsLease(60_000), window.take()]).toEqual([false, false]);
  });

  it('counts the rejections of one window', () => {
    const shared = new Shared();
    const window = newWindow(3);
    spend(10, shared, [window]);
    expect(window.rejections).toBe(7);
    window.pointsToLease(60_000);
    expect(window.rejections).toBe(0);
  });

  describe('while the database is unavailable', () => {
    it('admits exactly the limit', () => {
      const window = newWindow(7);
      let through = 0;
      for (let nth = 0; nth < 20; nth += 1) {
        while (window.needsLease(0)) window.lendOnCredit(0);
        if (window.take()) through += 1;
      }
      expect([through, window.msLeft(0)]).toEqual([7, MINUTE_MS]);
    });

    it('leases afterwards what it admitted on credit, so that it is not admitted twice', () => {
      const shared = new Shared();
      const window = newWindow(100);
      const before = sum(spend(10, shared, [window]));
      let away = 0;
      for (; away < 20; away += 1) {
        while (window.needsLease(1)) window.lendOnCredit(1);
        expect(window.take()).toBe(true);
      }
      expect(before + away + sum(spend(200, shared, [window]))).toBe(100);
    });
  });
});
