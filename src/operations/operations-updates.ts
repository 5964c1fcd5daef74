import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import type { PullQueue } from '../platform/run/pull-queue.ts';
import { updates } from './updates.ts';

const EVERY_MS = 2_000;
/** Per process. Each reads what it shows by itself. */
const MAX_SUBSCRIBERS = 100;

/**
 * Who follows `operationsUpdated`. The socket of a key that is revoked or loses a scope is closed, and its
 * subscriptions with it.
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
