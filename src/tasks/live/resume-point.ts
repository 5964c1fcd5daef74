import { LONGEST_END_MS } from '../record/ending.ts';
import type { ShownTask } from '../record/task.entity.ts';

/**
 * The longest time from the first answer in the transaction of an end to its commit. It covers waits for an endpoint,
 * for the counters of the API key and for its budget: twice 1.2 s each, and some more. Waits for the counters of
 * several keys in one batch of ends may take longer.
 */
const LONGEST_COMMIT_MS = 8_000;
/**
 * An end carries the time at which its transaction began, and becomes visible when the transaction commits. Ends with
 * later times may have been sent meanwhile. So a resume starts earlier by the time of the longest transaction.
 */
const OVERLAP_MS = LONGEST_END_MS + LONGEST_COMMIT_MS;
/**
 * Ends that were sent within the overlap are named in the id, and not sent again. If more ends were sent, some are sent
 * twice.
 */
const MAX_NAMED = 12;
/** The last characters of a task id are random. Their 40 bits distinguish a handful of tasks. */
const TAIL = 8;
const FORM = /^([0-9a-z]{1,11})((?:\.[0-9a-z]{8}){0,12})$/;

/**
 * The position of a subscriber to all tasks. Tasks that ended before this position were sent. The position is the `id:`
 * of each event, so the client brings it to its next connection, to any process.
 */
export class ResumePoint {
  private constructor(
    private atMs: number,
    private named: { tail: string; endedMs: number }[],
  ) {}

  static at(ms: number): ResumePoint {
    return new ResumePoint(Math.floor(ms), []);
  }

  /** @returns null for any text that is not one of our ids */
  static parse(text: string | undefined): ResumePoint | null {
    const [, time, tails] = FORM.exec(text ?? '') ?? [];
    if (time === undefined || tails === undefined) return null;
    const atMs = Number.parseInt(time, 36);
    if (atMs > 8.64e15) return null; // later than the last date
    return new ResumePoint(
      atMs,
      tails
        .split('.')
        .slice(1)
        .map((tail) => ({ tail, endedMs: atMs })),
    );
  }

  /** Unix milliseconds; resend the ends after this time. */
  get sinceMs(): number {
    return this.atMs - OVERLAP_MS;
  }

  /** Whether the end of this task was sent before. */
  includes(taskId: string): boolean {
    return this.named.some(({ tail }) => taskId.endsWith(tail));
  }

  /** Call when a task was sent. Only an end moves the position. */
  advance(task: ShownTask): void {
    if (!task.completed_at) return;
    const endedMs = task.completed_at.getTime();
    this.atMs = Math.max(this.atMs, endedMs);
    this.named.push({ tail: task.id.slice(-TAIL), endedMs });
    this.named = this.named.filter((end) => end.endedMs > this.sinceMs).slice(-MAX_NAMED);
  }

  toString(): string {
    return [this.atMs.toString(36), ...this.named.map(({ tail }) => tail)].join('.');
  }
}
