import { Injectable } from '@nestjs/common';
import type { LiveQueue } from './live-queue.ts';

/** The most tasks that may wait for all subscribers of this process together. They take some 120 MB. */
const MAX_WAITING_IN_ALL = 1_000_000;
const CHECK_MS = 2_000;

/**
 * What all subscribers of this process have not read yet. It is limited as a whole, because a key may open 1,000
 * queues, each with a limit of its own. Above the limit the longest queues are ended; their subscribers connect again
 * and resume.
 */
@Injectable()
export class Backlog {
  private readonly queues = new Set<LiveQueue>();
  private timer: NodeJS.Timeout | undefined;

  add(queue: LiveQueue): void {
    this.queues.add(queue);
    this.timer ??= setInterval(() => this.shorten(), CHECK_MS).unref();
    queue.states.whenClosed(() => {
      this.queues.delete(queue);
      if (this.queues.size > 0) return;
      clearInterval(this.timer);
      this.timer = undefined;
    });
  }

  /** Ends the longest queues until the others are within the limit. */
  shorten(maxWaiting: number = MAX_WAITING_IN_ALL): void {
    let waiting = 0;
    for (const { size } of this.queues) waiting += size;
    if (waiting <= maxWaiting) return;
    for (const queue of [...this.queues].sort((a, b) => b.size - a.size)) {
      if (waiting <= maxWaiting) return;
      waiting -= queue.size;
      queue.endBehind();
    }
  }
}
