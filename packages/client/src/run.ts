import { TaskFailedError, WaitTimeoutError } from './errors.ts';
import { follow } from './follow.ts';
import type { CallOptions, Transport } from './http/transport.ts';
import { type FinishedTask, withOutputs } from './output.ts';
import type { FailedTask, SucceededTask, Task } from './types.gen.ts';

export interface WaitOptions<State> {
  /** Called with the first state, and at each change of the percentage or the status. */
  onProgress?: (percent: number, state: State) => void;
  /** The limit of the wait in milliseconds. By default there is none: the wait ends with the task or batch. */
  timeoutMs?: number;
  /** Ends the wait, but not the task or batch. */
  signal?: AbortSignal;
}

/** Options of a creation, beside the request. */
export interface CreateOptions extends CallOptions {
  /** By default a random key. A second creation with the same key and request creates nothing. */
  idempotencyKey?: string;
}

/** How many seconds the service may wait for the end of a task before it answers a read. */
const READ_WAIT_S = 5;
const READ_TIMEOUT_MS = 20_000;

const isFinal = (task: Task): task is SucceededTask | FailedTask =>
  task.status === 'succeeded' || task.status === 'failed';

/** A task that can be waited for: `await run.wait()`, or `for await (const task of run)`. */
export class Run implements AsyncIterable<Task> {
  constructor(
    private readonly transport: Transport,
    readonly id: string,
    /** The newest state that was read; null before the first read. */
    public task: Task | null = null,
  ) {}

  /**
   * Waits for the result. A second wait is possible, also in another process: `darkroom.run(id).wait()`.
   * @throws TaskFailedError when the task ends without a result
   * @throws WaitTimeoutError when the time runs out; the task goes on
   */
  async wait({ onProgress, timeoutMs, signal }: WaitOptions<Task> = {}): Promise<FinishedTask> {
    const task = await waitForLast(this.id, (given) => this.states(given), { onProgress, timeoutMs, signal });
    if (task.status === 'failed') throw new TaskFailedError(task);
    return withOutputs(this.transport, task as SucceededTask);
  }

  /** The states from now on, the final one last. */
  readonly [Symbol.asyncIterator]: () => AsyncIterator<Task> = () => this.states();

  /** Reads the task once. */
  async refresh(options: CallOptions = {}): Promise<Task> {
    this.task = await this.transport.json<Task>('GET', this.path, options);
    return this.task;
  }

  /** @returns the task; unchanged if it had already ended */
  async cancel(options: CallOptions = {}): Promise<Task> {
    this.task = await this.transport.json<Task>('POST', `${this.path}/cancel`, { ...options, isRepeatable: true });
    return this.task;
  }

  /** Creates a task with the same request. @param input parameters to replace; null removes one */
  async retry(input: Record<string, unknown> = {}, options: CreateOptions = {}): Promise<Run> {
    const task = await create<Task>(this.transport, `${this.path}/retry`, { input }, options);
    return new Run(this.transport, task.task_id, task);
  }

  private get path(): string {
    return `/v1/tasks/${encodeURIComponent(this.id)}`;
  }

  private async *states(signal?: AbortSignal): AsyncGenerator<Task> {
    if (this.task && isFinal(this.task)) {
      yield this.task;
      return;
    }
    const read = (given: AbortSignal | undefined, waits: boolean) =>
      this.transport.json<Task>('GET', this.path, {
        query: waits ? { wait: READ_WAIT_S } : {},
        timeoutMs: READ_TIMEOUT_MS,
        signal: given,
      });
    const followed = { id: this.id, events: `${this.path}/events`, isFinal, read };
    for await (const task of follow<Task>(this.transport, followed, signal)) {
      this.task = task;
      yield task;
    }
  }
}

/** A random key. `crypto.randomUUID` is missing in browsers on plain http, as in a local network. */
const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');

/** Creates a task or batch. The request carries an idempotency key, so sending it again does not pay twice. */
export function create<Answer>(
  transport: Transport,
  path: string,
  body: object,
  { idempotencyKey, ...options }: CreateOptions,
): Promise<Answer> {
  const headers = { 'idempotency-key': idempotencyKey ?? randomKey() };
  return transport.json<Answer>('POST', path, { ...options, body, headers, isRepeatable: true });
}

/**
 * Waits for the last state, and returns it.
 * @throws WaitTimeoutError after `timeoutMs`
 * @throws the reason of `signal` when it aborts
 */
export async function waitForLast<State extends { progress: number; status: string }>(
  id: string,
  statesOf: (signal: AbortSignal | undefined) => AsyncIterable<State>,
  { onProgress, timeoutMs, signal }: WaitOptions<State>,
): Promise<State> {
  const clock = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const both = [signal, clock].filter((each) => each !== undefined);
  let last: State | undefined;
  try {
    for await (const state of statesOf(both.length > 0 ? AbortSignal.any(both) : undefined)) {
      if (state.progress !== last?.progress || state.status !== last.status) onProgress?.(state.progress, state);
      last = state;
    }
  } catch (error) {
    if (clock?.aborted && !signal?.aborted) throw new WaitTimeoutError(id, timeoutMs!);
    throw error;
  }
  return last!;
}
