import { CommanderError } from 'commander';
import { ConnectionError, TaskFailedError, WaitTimeoutError } from '@darkroom/client';

/** Exit codes that scripts can rely on. docs/guides/command-line.md lists them. */
export const EXIT_CODES = {
  done: 0,
  /** The service refused, or something broke. */
  failed: 1,
  /** The command was written wrongly. */
  usage: 2,
  /** The task failed, or an item of the batch did not succeed. */
  unsuccessful: 3,
  /** The service cannot be reached. */
  unreachable: 4,
  /** The time to wait is over; the task goes on. */
  timeout: 5,
} as const;

/** A batch ran to its end, but an item did not succeed. */
export class UnsuccessfulError extends Error {}

export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_CODES.done : EXIT_CODES.usage;
  if (error instanceof TaskFailedError || error instanceof UnsuccessfulError) return EXIT_CODES.unsuccessful;
  if (error instanceof ConnectionError) return EXIT_CODES.unreachable;
  if (error instanceof WaitTimeoutError) return EXIT_CODES.timeout;
  return EXIT_CODES.failed;
}
