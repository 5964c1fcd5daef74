import { Injectable } from '@nestjs/common';
import { limitsInForce } from '../../auth/limits/api-key-limits.ts';
import { type KeyFacts, KeyNames } from '../../auth/api-keys/key-names.ts';
import { Config } from '../../platform/config/config.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { RecentActivity } from '../processes/recent-activity.ts';
import { WatchLoad } from './sql/watch-load.ts';
import type { KeyQueueView } from './key-queue.view.ts';

const MAX_KEYS = 100;

/** The API keys that an operator may want to look at: those with unfinished tasks, refusals or failures. */
@Injectable()
export class KeyQueues {
  constructor(
    private readonly load: WatchLoad,
    private readonly activity: RecentActivity,
    private readonly names: KeyNames,
    private readonly config: Config,
  ) {}

  /** Keys with most unfinished tasks first, then keys with most refusals and failures. */
  async list(): Promise<KeyQueueView[]> {
    const [queues, { keys }] = await Promise.all([this.load.keys(MAX_KEYS), this.activity.get()]);
    const troubled = keys.toSorted((one, other) => other.refused + other.failed - one.refused - one.failed);
    const ids = [...new Set([...queues, ...troubled].map(({ api_key_id }) => api_key_id))].slice(0, MAX_KEYS);
    const known = await this.names.of(ids);
    return ids.map((id) => {
      const { refused = 0, failed = 0 } = keys.find(({ api_key_id }) => api_key_id === id) ?? {};
      const {
        queued = 0,
        running = 0,
        oldest_waiting_s = null,
      } = queues.find(({ api_key_id }) => api_key_id === id) ?? {};
      return {
        api_key_id: id,
        queued,
        running,
        oldest_waiting_s,
        ...this.factsOf(known.get(id)),
        refused_last_hour: refused,
        failed_last_hour: failed,
      };
    });
  }

  private factsOf(key: KeyFacts | undefined) {
    const limits = key && limitsInForce(key.limits, this.config);
    return {
      name: key?.name ?? null,
      max_running: limits?.maxRunning ?? null,
      max_queued: limits?.maxQueued ?? null,
      creates_per_minute: limits?.createsPerMinute ?? null,
      reads_per_minute: limits?.readsPerMinute ?? null,
      weight: limits?.weight ?? null,
      last_used_at: key?.last_used_at ? unixSeconds(key.last_used_at) : null,
    };
  }
}
