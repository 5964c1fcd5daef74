import type { Logger } from '@nestjs/common';
import { Interval } from './interval.ts';

/**
 * Seconds from a purge that left nothing to delete until the next one: a minute, or less if TASK_SWEEP_S is below its
 * default. A purge may be late, because every read leaves out the rows that have expired, to the second.
 */
export const purgePauseS = (taskSweepS: number): number => Math.min(60, taskSweepS * 12);

interface PurgePlan {
  logger: Logger;
  /** The event that is logged when a purge fails. */
  failure: string;
  /** The most rows that a purge deletes. After a purge of this size the next one follows at once. */
  fullRound: number;
  /** Seconds from a purge that deleted fewer rows, or failed, until the next one. */
  pauseS: number;
  /** Returns how many rows it has deleted. */
  purge: () => Promise<number>;
}

/** Repeats a purge until it is stopped. After a failure, which is logged, the next purge follows as usual. */
export function purgeInterval({ logger, failure, fullRound, pauseS, purge }: PurgePlan): Interval {
  return new Interval(async () => {
    try {
      return (await purge()) >= fullRound ? 0 : pauseS;
    } catch (err) {
      logger.warn({ event: failure, err });
      return pauseS;
    }
  });
}
