import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { WINDOW_S } from './rate-window.ts';

/** How many addresses and keys are kept in memory: those that were counted last. */
const CLIENTS = 10_000;

interface Window {
  count: number;
  /** Milliseconds on the monotonic clock. */
  endsAt: number;
}

/** Counts by address, or by the id of a key, in windows of a minute, in this process. */
export class MinuteCounts {
  private readonly windows = new LRUCache<string, Window>({
    maxSize: CLIENTS, // `max` would reserve 0.2 MB at once
    sizeCalculation: () => 1,
  });

  /**
   * @param client an address or the id of a key
   * @param by what is added to the count of this window
   * @returns the new count, and the seconds until the next window
   */
  count(client: string, by = 1): { count: number; retryAfterS: number } {
    const now = performance.now();
    const group = addressGroup(client);
    let window = this.windows.get(group);
    if (!window || window.endsAt <= now) {
      this.windows.set(group, (window = { count: 0, endsAt: now + WINDOW_S * 1000 }));
    }
    window.count = Math.max(0, window.count + by);
    return { count: window.count, retryAfterS: Math.ceil((window.endsAt - now) / 1000) };
  }
}

/**
 * What counts as one client: an IPv4 address, or the /64 network of an IPv6 address, because one internet connection
 * has all of that network.
 */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const read = ipaddr.process(address); // ::ffff:192.0.2.1 becomes the IPv4 address 192.0.2.1
  return read instanceof ipaddr.IPv6 ? `${read.parts.slice(0, 4).join(':')}/64` : read.toString();
}
