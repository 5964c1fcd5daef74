import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import type { PullQueue } from '../platform/run/pull-queue.ts';
import { updates } from './updates.ts';

const EVERY_MS = 2_000;
/** The maximum number of subscribers in one process. Each of them reads the views for itself. */
const MAX_SUBSCRIBERS = 100;

/**
 * The subscribers of `operationsUpdated`. If a key is revoked or loses a scope, its sockets are closed, which ends its
 * subscriptions.
 */
@Injectable()
export class OperationsUpdates {
  private open = 0;

  /** @throws ApiError rate_limit_exceeded */
  follow(): PullQueue<true> {
    if (this.open >= MAX_SUBSCRIBERS) {
      throw new ApiError('rate_limit_exceeded', {
        message: `This process has ${MAX_SUBSCRIBERS} subscribers of operationsUpdated, which is the limit.`,
        retryAfterS: 5,
      });
    }
    this.open += 1;
    const queue = updates(EVERY_MS);
    queue.whenClosed(() => (this.open -= 1));
    return queue;
  }
}
