import { Injectable } from '@nestjs/common';
import { TaskFeed } from '../../tasks/queue/task-feed.ts';
import { isEnded } from '../record/batch-status.ts';
import type { ShownBatch } from '../record/batch.entity.ts';
import { BatchesService } from '../read/batches.service.ts';
import { BatchRows } from '../sql/batch-rows.ts';
import type { PullQueue } from '../../platform/run/pull-queue.ts';
import { BatchQueue } from './batch-queue.ts';
import { versionOf } from './batch-version.ts';
import { WatchedBatch } from './watched-batch.ts';

/** Follows batches from their current state to their final one, for GraphQL subscriptions and event streams. */
@Injectable()
export class FollowBatches {
  private readonly watched = new Map<string, WatchedBatch>();

  constructor(
    private readonly batches: BatchesService,
    private readonly rows: BatchRows,
    private readonly feed: TaskFeed,
  ) {}

  /**
   * @param seen the version of the state that the subscriber received last; this state is not sent again
   * @throws ApiError batch_not_found
   */
  async follow(apiKeyId: string, id: string, seen?: string): Promise<PullQueue<ShownBatch>> {
    const current = await this.batches.find(apiKeyId, id);
    const queue = new BatchQueue(current, versionOf(current) === seen);
    if (isEnded(current.status)) queue.end();
    else this.watchedBatch(current).add(queue);
    return queue.states;
  }

  private watchedBatch(current: ShownBatch): WatchedBatch {
    const { id, api_key_id: apiKeyId } = current;
    const known = this.watched.get(id);
    if (known) {
      known.touch();
      return known;
    }
    const unwatch = this.feed.watchKey(apiKeyId, (task) => {
      if (task.batch_id === id) batch.touch();
    });
    const onEmpty = () => {
      unwatch();
      this.watched.delete(id);
    };
    const batch = new WatchedBatch({ read: () => this.rows.find(id), onEmpty });
    this.watched.set(id, batch);
    return batch;
  }
}
