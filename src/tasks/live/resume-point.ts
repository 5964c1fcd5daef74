import { LONGEST_END_MS } from '../record/ending.ts';
import type { ShownTask } from '../record/task.entity.ts';
import { POLL_S } from '../queue/task-feed.ts';

/**
 * The longest time of a transaction that ends tasks, from the answer to its first statement until its commit. It covers
 * the waits for two rows: of the counters of the API key, and of its budget. Each wait takes at most twice 1.2 s. The
 * waits for several keys in one batch of ends may take longer.
 */
const LONGEST_COMMIT_MS = 8_000;
/** Time for the poll for lost events to read the ends. Nothing enforces it: a busy database may take longer. */
const LONGEST_POLL_MS = 2_000;
/**
 * How far a resume goes back. The time of an end is the beginning of its transaction, but the end becomes visible at
 * the commit, and if its event is lost, only the next poll finds it. Ends with later times may have been sent
 * meanwhile. So a resume goes back by the time of the longest transaction and of a poll.
 */
const OVERLAP_MS = LONGEST_END_MS + LONGEST_COMMIT_MS + POLL_S * 1000 + LONGEST_POLL_MS;
/**
 * The most ends that the `id:` of an event names. It names the tasks whose ends were sent last, so that a resume does
 * not send these ends again. If more ends were sent within OVERLAP_MS, some are sent twice.
 */
const MAX_NAMED = 12;
/**
 * How many of the last characters of a task id name the task here. These characters are random, and their 40 bits tell
 * a handful of tasks apart.
 */
const TAIL = 8;
const FORM = /^([0-9a-z]{1,11})((?:\.[0-9a-z]{8}){0,12})$/;

/**
 * How far a subscriber to all tasks has read: the latest time of the ends that were sent to it, and the names of the
 * last tasks among them. This position is the `id:` of each event. The client sends it with its next connection, to any
 * process.
 */
export class ResumePoint {
  private constructor(
    private atMs: number,
    private named: { tail: string; endedMs: number }[],
  ) {}

  static at(ms: number): ResumePoint {
    return new ResumePoint(Math.floor(ms), []);
  }

  /** @returns null for a text that `toString` does not make */
  static parse(text: string | undefined): ResumePoint | null {
    const [, time, tails] = FORM.exec(text ?? '') ?? [];
    if (time === undefined || tails === undefined) return null;
    const atMs = Number.parseInt(time, 36);
    if (atMs > 8.64e15) return null; // later than the latest valid Date
    return new ResumePoint(
      atMs,
      tails
        .split('.')
        .slice(1)
        .map((tail) => ({ tail, endedMs: atMs })),
    );
  }

  /** Unix milliseconds. A resume sends the ends after this time. */
  get sinceMs(): number {
    return this.atMs - OVERLAP_MS;
  }

  /** Whether the position names this task. If so, the end of the task was sent before. */
  includes(taskId: string): boolean {
    return this.named.some(({ tail }) => taskId.endsWith(tail));
  }

  /** Call this when a task was sent. Only final tasks move the position. */
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
