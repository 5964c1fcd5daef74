import { ApiError } from '../../errors/api-error.ts';
import type { ShownTask } from '../task.entity.ts';
import { isFinal } from '../task-status.ts';

/** Rows held; of further tasks only the id is kept, and the row is read when its turn comes. */
const MAX_ROWS = 200;
/** Tasks that may wait for a reader who does not read, some 6 MB. Past that it is hung up on, and has to resume. */
const MAX_WAITING = 50_000;
/** Tasks whose last told state is remembered, so that no state is told twice. */
const MAX_REMEMBERED = 10_000;
/** Rows read at once. */
const READ_AT_ONCE = 100;

interface LiveQueueOptions {
  /** Reads the rows of these tasks as they stand, as far as they are still there. */
  read: (ids: string[]) => Promise<ShownTask[]>;
  /** Which tasks are wanted; all when left out. */
  wanted?: (task: ShownTask) => boolean;
  /** Whether the queue ends with the first final state: it is that of one task. */
  endsWithTask?: boolean;
}

/**
 * What one subscriber is still to be told: per task the newest state, whatever came before it. So a slow reader costs
 * little, however much happens, and never misses a final state. Sequences rise, so nothing is told backwards.
 *
 * An iterator by hand rather than an async generator: `return()` must end a `next()` that waits.
 */
export class LiveQueue implements AsyncIterableIterator<ShownTask> {
  /** In the order of telling. null: only the id is kept. */
  private readonly waiting = new Map<string, ShownTask | null>();
  private rows = 0;
  /** The sequence last told of each task. */
  private readonly told = new Map<string, number>();
  private readonly onClose: (() => void)[] = [];
  private wake: (() => void) | null = null;
  private failure: Error | null = null;
  private isEnding = false;
  private isClosed = false;

  constructor(private readonly options: LiveQueueOptions) {}

  get size(): number {
    return this.waiting.size;
  }

  /** Told of a change. Older states than those told or waiting are ignored. */
  push(task: ShownTask): void {
    if (this.isClosed || this.isEnding || !this.isNews(task)) return;
    if (this.options.wanted && !this.options.wanted(task)) {
      this.drop(task.id); // what waits is older, and the reader wants this task no more
      return;
    }
    const isLast = isFinal(task.status);
    if (isLast) this.drop(task.id); // final states are told in the order of their coming, which resuming relies on
    if (!this.waiting.has(task.id) && this.waiting.size >= MAX_WAITING) {
      if (isLast) this.fail(fellBehind());
      return; // an unfinished task has more to say later
    }
    this.put(task.id, this.rows < MAX_ROWS ? task : null);
    this.wake?.();
  }

  /** To be told of tasks as they stand when their turn comes. */
  pushIds(ids: Iterable<string>): void {
    for (const id of ids) {
      if (!this.waiting.has(id) && this.waiting.size < MAX_WAITING) this.waiting.set(id, null);
    }
    this.wake?.();
  }

  /** States up to this one are known to the reader already. */
  skip(id: string, sequence: number): void {
    this.remember(id, sequence);
  }

  /** Takes no more news; what waits is still told. */
  endWhenTold(): void {
    this.isEnding = true;
    this.wake?.();
  }

  /** Ends at once: what waits is dropped. */
  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting.clear();
    for (const act of this.onClose) act();
    this.wake?.();
  }

  /** @param act called once, when the queue ends for whatever reason; at once when it has ended already */
  whenClosed(act: () => void): void {
    if (this.isClosed) act();
    else this.onClose.push(act);
  }

  async next(): Promise<IteratorResult<ShownTask, undefined>> {
    for (;;) {
      if (this.failure) {
        const failure = this.failure;
        this.failure = null;
        throw failure;
      }
      if (this.isClosed) return { done: true, value: undefined };
      const task = await this.take();
      if (task && !this.isClosed) return { done: false, value: task };
    }
  }

  async return(): Promise<IteratorResult<ShownTask, undefined>> {
    this.close();
    return { done: true, value: undefined };
  }

  async throw(error: unknown): Promise<IteratorResult<ShownTask, undefined>> {
    this.close();
    throw error;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** The next to be told; null when there was something to wait for first. */
  private async take(): Promise<ShownTask | null> {
    const [first] = this.waiting;
    if (!first) {
      if (this.isEnding) this.close();
      else await this.sleep();
      return null;
    }
    const [id, task] = first;
    if (task === null) {
      await this.fetchRows();
      return null;
    }
    this.drop(id);
    this.remember(id, task.sequence);
    if (this.options.endsWithTask && isFinal(task.status)) this.endAfter();
    return task;
  }

  /** The one final state is about to be told; the next `next()` ends. */
  private endAfter(): void {
    this.isEnding = true;
    this.waiting.clear();
    this.rows = 0;
  }

  private async sleep(): Promise<void> {
    await new Promise<void>((resolve) => (this.wake = resolve));
    this.wake = null;
  }

  /** Reads the rows of the first tasks that wait without one. */
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
      this.fail(error as Error);
      return;
    }
    const found = new Map(tasks.map((task) => [task.id, task]));
    for (const id of ids) {
      const waiting = this.waiting.get(id);
      const task = found.get(id);
      if (waiting === undefined || (waiting !== null && waiting.sequence >= (task?.sequence ?? 0))) continue;
      if (task && this.isUntold(task) && (this.options.wanted?.(task) ?? true)) this.put(id, task);
      else this.drop(id); // gone, told already, or not wanted
    }
  }

  private isNews(task: ShownTask): boolean {
    const waiting = this.waiting.get(task.id);
    return this.isUntold(task) && (!waiting || waiting.sequence < task.sequence);
  }

  private isUntold(task: ShownTask): boolean {
    return (this.told.get(task.id) ?? 0) < task.sequence;
  }

  private put(id: string, task: ShownTask | null): void {
    if (this.waiting.get(id)) this.rows -= 1;
    if (task) this.rows += 1;
    this.waiting.set(id, task);
  }

  private drop(id: string): void {
    if (this.waiting.get(id)) this.rows -= 1;
    this.waiting.delete(id);
  }

  private remember(id: string, sequence: number): void {
    this.told.delete(id);
    this.told.set(id, sequence);
    if (this.told.size > MAX_REMEMBERED) this.told.delete(this.told.keys().next().value as string);
  }

  private fail(error: Error): void {
    this.failure = error;
    this.close();
  }
}

/** The reader has to come back and resume. */
function fellBehind(): ApiError {
  return new ApiError('service_unavailable', { message: 'Too much has happened that was not read; connect again.' });
}
