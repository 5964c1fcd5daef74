import { LRUCache } from 'lru-cache';
import { WINDOW_S } from './rate-window.ts';

/** The maximum number of names in memory. A further name replaces the least recently counted one. */
const NAMES = 10_000;

interface Window {
  count: number;
  /** Milliseconds on the monotonic clock. */
  endsAt: number;
}

/**
 * Counts events by name, in windows of a minute, in this process only. A name is, for example, a group of addresses or
 * the id of a key.
 */
export class MinuteCounts {
  private readonly windows = new LRUCache<string, Window>({
    maxSize: NAMES, // `max` would allocate 0.2 MB in advance
    sizeCalculation: () => 1,
  });

  /**
   * @param by what is added to the count of this window
   * @returns the new count, and the seconds until the next window
   */
  count(name: string, by = 1): { count: number; retryAfterS: number } {
    const now = performance.now();
    let window = this.windows.get(name);
    if (!window || window.endsAt <= now) {
      this.windows.set(name, (window = { count: 0, endsAt: now + WINDOW_S * 1000 }));
    }
    window.count = Math.max(0, window.count + by);
    return { count: window.count, retryAfterS: Math.ceil((window.endsAt - now) / 1000) };
  }
}
