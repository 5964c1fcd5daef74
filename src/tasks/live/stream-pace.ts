import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ShownTask } from '../record/task.entity.ts';
import { charactersIn } from '../sql/page-of-tasks.ts';

/** The most characters of long inputs that the streams of one API key get in a second, in one process. */
const CHARACTERS_PER_S = 8_388_608;
/** Tasks with shorter inputs are sent without a wait. */
const SHORT_CHARACTERS = 8_192;
/** As many keys as there may be streams. */
const MAX_KEYS = 5_000;

/**
 * Bounds how fast long inputs are sent to the streams of an API key. Each state contains the whole input. Without the
 * bound, a thousand streams with inputs of 192 kB held up all other requests for seconds.
 */
@Injectable()
export class StreamPace {
  /** When the streams of a key may get the next long input, on the monotonic clock. */
  private readonly freeAtMs = new LRUCache<string, number>({ max: MAX_KEYS });

  /**
   * @param closed aborts when the stream is closed, which ends the wait
   * @returns resolves when the task may be sent; null: at once
   */
  turnOf({ api_key_id, input }: Pick<ShownTask, 'api_key_id' | 'input'>, closed: AbortSignal): Promise<void> | null {
    const characters = charactersIn(input);
    if (characters <= SHORT_CHARACTERS) return null;
    const nowMs = performance.now();
    const freeAtMs = Math.max(this.freeAtMs.get(api_key_id) ?? 0, nowMs);
    const takesMs = (characters / CHARACTERS_PER_S) * 1_000;
    this.freeAtMs.set(api_key_id, freeAtMs + takesMs);
    if (freeAtMs === nowMs) return null;
    return sleep(freeAtMs - nowMs, undefined, { ref: false, signal: closed }).catch(() => {
      // What a closed stream does not get makes room for the others.
      this.freeAtMs.set(api_key_id, (this.freeAtMs.get(api_key_id) ?? 0) - takesMs);
    });
  }
}
