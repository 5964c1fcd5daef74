import { LRUCache } from 'lru-cache';
import { type ApiError } from '../../errors/api-error.ts';
import { Batch, type BatchOptions } from './batch.ts';

/** The most API keys for which batches are kept. A batch that is dropped still answers its callers. */
const MAX_KEYS = 1_000;

/**
 * A batch for each API key, for statements that may take long. The items of a key do not wait for those of another key.
 * They use only the share of their key in the connections of the pool.
 */
export class BatchPerKey<Item, Outcome> {
  private readonly batches = new LRUCache<string, Batch<Item, Outcome>>({ max: MAX_KEYS });

  /** @param flush gets items of one API key; otherwise as in `Batch` */
  constructor(
    private readonly flush: (items: Item[]) => Promise<(Outcome | ApiError)[]>,
    private readonly options: BatchOptions,
  ) {}

  /** @see Batch.add */
  add(apiKeyId: string, item: Item): Promise<Outcome> {
    let batch = this.batches.get(apiKeyId);
    if (!batch) {
      batch = new Batch(this.flush, { ...this.options, isOfOneKey: true });
      this.batches.set(apiKeyId, batch);
    }
    return batch.add(item);
  }
}
