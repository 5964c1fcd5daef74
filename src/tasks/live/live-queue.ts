import { setImmediate as endOfTurn } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.ts';
import { PullQueue } from '../../platform/run/pull-queue.ts';
import { isFinal, type ShownTask } from '../record/task.entity.ts';
import type { End } from '../sql/changed-tasks.ts';

/**
 * The most rows that a queue holds in memory. Of further tasks it holds only the id, and reads the row when it sends
 * the task.
 */
const MAX_ROWS = 200;
/**
 * The most tasks that may wait for one subscriber. They take some 6 MB. If a final state finds no room, the subscriber
 * is disconnected and must resume.
 */
const MAX_WAITING = 50_000;
/**
 * The most tasks whose last sent sequence is remembered, so that no state is sent twice. The 1,000 streams that an API
 * key may have need some 100 MB for this.
 */
const MAX_REMEMBERED = 1_000;
/** Rows per read. */
const READ_AT_ONCE = 100;

interface LiveQueueOptions {
  /** Reads the current rows of these tasks; deleted tasks are left out. */
  read: (ids: string[]) => Promise<ShownTask[]>;
  /** Selects the tasks to send; all when left out. */
  accepts?: (task: ShownTask) => boolean;
  /** Whether the queue follows one task and ends with its final state. */
  endsWithTask?: boolean;
  /** Returns what to wait for before a task is sent; null: nothing. The signal aborts when the queue ends. */
  pace?: (task: ShownTask, closed: AbortSignal) => Promise<void> | null;
}

/**
 * The queue of one subscriber. It keeps only the latest state of each task, so a slow subscriber costs little. A
 * subscriber misses no final state, unless it reads so little that the queue ends. The states of one task are sent in
 * the order of their sequence.
 */
export class LiveQueue {
  readonly states = new PullQueue<ShownTask>(() => this.take());
  /** Waiting tasks in the order of sending; null if only the id is in memory. */
  private readonly waiting = new Map<string, ShownTask | null>();
  private rows = 0;
  /** Those that were queued by id and were unfinished then. */
  private readonly unfinished = new Set<string>();
  /** The last sent sequence of each task. */
  private readonly sent = new Map<string, number>();
  /** What is sent before anything else; null when it was. `untilMs` is the time of the last end that was read. */
  private missed: { pages: AsyncIterator<End[]>; unfinished: AsyncIterable<string[]>; untilMs: number } | null = null;
  /** The tasks that have ended while missed ends are sent, with the unix milliseconds of their ends. */
  private readonly endedMeanwhile = new Map<string, number>();
  private isEnding = false;
  private readonly closed = new AbortController();
  /** Resolves at the end of the event-loop turn in which the last state was taken. */
  private turn: Promise<void> | undefined;

  constructor(private readonly options: LiveQueueOptions) {
    this.states.whenClosed(() => {
      this.closed.abort();
      this.clear();
    });
  }

  get size(): number {
    return this.waiting.size + this.endedMeanwhile.size;
  }

  /** Queues a state of a task. A state that is not newer than one that was queued or sent is ignored. */
  push(task: ShownTask): void {
    if (this.states.isClosed || this.isEnding || !this.isNewer(task)) return;
    if (this.missed) {
      this.pushBehindMissed(task);
      return;
    }
    if (this.options.accepts && !this.options.accepts(task)) {
      this.drop(task.id); // the task has left the filter, so its queued state is not sent either
      return;
    }
    const isLast = isFinal(task.status);
    if (isLast) this.drop(task.id); // final states are sent in the order of arrival, on which a resume relies
    if (!this.waiting.has(task.id) && this.waiting.size >= MAX_WAITING) {
      if (isLast) this.endBehind();
      return; // an unfinished task will change again
    }
    this.put(task.id, this.rows < MAX_ROWS ? task : null);
    this.states.wake();
  }

  /**
   * Queues unfinished tasks by id: each is sent in the state that it has when it is due. If it has ended by then, its
   * end is sent after the ends that wait already.
   */
  pushUnfinished(ids: readonly string[]): void {
    for (const id of ids) {
      if (this.waiting.has(id) || this.waiting.size >= MAX_WAITING) continue;
      this.unfinished.add(id);
      this.waiting.set(id, null);
    }
    this.states.wake();
  }

  /**
   * Sends first the ends that a resume has missed, then those that arrive meanwhile, then the unfinished tasks. A page
   * of missed ends is read when the one before it was sent, and the first one here.
   *
   * @param missed in the order in which the tasks ended, so that a client that breaks off may resume from any of them
   */
  async catchUp(missed: AsyncIterable<End[]>, unfinished: AsyncIterable<string[]>): Promise<void> {
    this.missed = { pages: missed[Symbol.asyncIterator](), unfinished, untilMs: -Infinity };
    await this.readMissed();
  }

  /** Marks the states up to this sequence as sent. */
  skip(id: string, sequence: number): void {
    this.remember(id, sequence);
  }

  /** Ends at once because the subscriber has left too much unread. The subscriber must connect again and resume. */
  endBehind(): void {
    this.states.fail(fellBehind());
  }

  /**
   * Takes at most one state in each turn of the event loop. Otherwise a thousand subscribers with a thousand states
   * each would hold up everything else for seconds.
   * @returns the next state to send; null when there is none
   */
  private async take(): Promise<ShownTask | null> {
    await this.turn;
    let isPaced = false;
    for (;;) {
      const [first] = this.waiting;
      if (!first && this.missed) {
        await this.readMissed().catch((error: Error) => this.states.fail(error));
        continue;
      }
      if (!first) {
        if (this.isEnding) this.states.close();
        return null;
      }
      const [id, task] = first;
      if (task === null) {
        await this.fetchRows();
        continue;
      }
      const paced = isPaced ? null : this.options.pace?.(task, this.closed.signal);
      if (paced) {
        await paced;
        isPaced = true;
        continue; // the task may have changed meanwhile
      }
      this.drop(id);
      this.remember(id, task.sequence);
      this.turn = endOfTurn();
      if (this.options.endsWithTask && isFinal(task.status)) this.endAfterThis();
      return task;
    }
  }

  /** Keeps an end for after the missed ones. Tasks that have not ended are read after these. */
  private pushBehindMissed({ id, completed_at }: ShownTask): void {
    if (!completed_at || this.waiting.has(id)) return;
    if (this.endedMeanwhile.size >= MAX_WAITING) this.endBehind();
    else this.endedMeanwhile.set(id, completed_at.getTime());
  }

  /** Queues the next page of missed ends, or what follows the last one. */
  private async readMissed(): Promise<void> {
    const { missed } = this;
    if (!missed) return;
    const { pages, unfinished, untilMs } = missed;
    const page = await pages.next();
    if (this.states.isClosed) return;
    for (const { id } of page.value ?? []) this.endedMeanwhile.delete(id);
    for (const [id, endedMs] of this.endedMeanwhile) {
      // An end that became visible after the page with its time was read is in no page. It is sent now, before the
      // position of the client moves far beyond it.
      if (!page.done && endedMs > untilMs) continue;
      this.endedMeanwhile.delete(id);
      this.waiting.set(id, null);
    }
    if (!page.done) {
      for (const { id, at } of page.value) {
        this.waiting.set(id, null);
        missed.untilMs = at * 1000;
      }
      return;
    }
    this.missed = null;
    for await (const ids of unfinished) this.pushUnfinished(ids);
  }

  /** Ends the queue after the final state, which is about to be sent. */
  private endAfterThis(): void {
    this.isEnding = true;
    this.clear();
  }

  /** Reads the rows of the first queued tasks of which only the id is in memory. */
  private async fetchRows(): Promise<void> {
    const ids: string[] = [];
    for (const [id, task] of this.waiting) {
      if (ids.length >= READ_AT_ONCE) break;
      if (task === null) ids.push(id);
    }
    let tasks: ShownTask[];
    try {
      tasks = await this.options.read(ids);
    } catch (error) {
      this.states.fail(error as Error);
      return;
    }
    const found = new Map(tasks.map((task) => [task.id, task]));
    for (const id of ids) {
      const waiting = this.waiting.get(id);
      const task = found.get(id);
      if (waiting === undefined || (waiting !== null && waiting.sequence >= (task?.sequence ?? 0))) continue;
      if (!task || !this.isUnsent(task) || !(this.options.accepts?.(task) ?? true)) {
        this.drop(id); // deleted, sent already, or outside the filter
        continue;
      }
      if (isFinal(task.status) && this.unfinished.has(id)) this.drop(id); // the end goes behind the others
      this.put(id, task);
    }
  }

  private isNewer(task: ShownTask): boolean {
    const waiting = this.waiting.get(task.id);
    return this.isUnsent(task) && (!waiting || waiting.sequence < task.sequence);
  }

  private isUnsent(task: ShownTask): boolean {
    return (this.sent.get(task.id) ?? 0) < task.sequence;
  }

  private put(id: string, task: ShownTask | null): void {
    if (this.waiting.get(id)) this.rows -= 1;
    if (task) this.rows += 1;
    this.waiting.set(id, task);
  }

  private drop(id: string): void {
    if (this.waiting.get(id)) this.rows -= 1;
    this.waiting.delete(id);
    this.unfinished.delete(id);
  }

  private remember(id: string, sequence: number): void {
    this.sent.delete(id);
    this.sent.set(id, sequence);
    if (this.sent.size > MAX_REMEMBERED) this.sent.delete(this.sent.keys().next().value as string);
  }

  private clear(): void {
    this.waiting.clear();
    this.unfinished.clear();
    this.missed = null;
    this.endedMeanwhile.clear();
    this.rows = 0;
  }
}

function fellBehind(): ApiError {
  return new ApiError('service_unavailable', { message: 'Too many changes were not read; connect again to resume.' });
}
