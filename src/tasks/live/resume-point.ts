import type { ShownTask } from '../task.entity.ts';

/** Commits do not become visible exactly in the order of their times, so a look back starts a little earlier. */
const OVERLAP_MS = 2_000;
/** Ends told within the overlap and named in the id, so that they are not told again; past that some are. */
const MAX_NAMED = 12;
/** The last characters of a task id are random: 40 bits tell a handful of tasks apart. */
const TAIL = 8;
const FORM = /^([0-9a-z]{1,11})((?:\.[0-9a-z]{8}){0,12})$/;

/**
 * Where a reader of all tasks stands: every task that ended by then has been told. It is the `id:` of each event, so that
 * the reader itself carries it over to the next connection, to whatever process.
 */
export class ResumePoint {
  private constructor(
    private atMs: number,
    private named: { tail: string; endedMs: number }[],
  ) {}

  static at(ms: number): ResumePoint {
    return new ResumePoint(Math.floor(ms), []);
  }

  /** null for anything that is not of our making. */
  static parse(text: string | undefined): ResumePoint | null {
    const [, time, tails] = FORM.exec(text ?? '') ?? [];
    if (time === undefined || tails === undefined) return null;
    const atMs = Number.parseInt(time, 36);
    if (atMs > 8.64e15) return null; // past the last date there is
    return new ResumePoint(
      atMs,
      tails
        .split('.')
        .slice(1)
        .map((tail) => ({ tail, endedMs: atMs })),
    );
  }

  /** From when on to look for ends; unix milliseconds. */
  get sinceMs(): number {
    return this.atMs - OVERLAP_MS;
  }

  knows(taskId: string): boolean {
    return this.named.some(({ tail }) => taskId.endsWith(tail));
  }

  /** The task was told. Only an end moves the point. */
  pass(task: ShownTask): void {
    if (!task.completed_at) return;
    const endedMs = task.completed_at.getTime();
    this.atMs = Math.max(this.atMs, endedMs);
    this.named.push({ tail: task.id.slice(-TAIL), endedMs });
    this.named = this.named.filter((one) => one.endedMs > this.sinceMs).slice(-MAX_NAMED);
  }

  toString(): string {
    return [this.atMs.toString(36), ...this.named.map(({ tail }) => tail)].join('.');
  }
}
