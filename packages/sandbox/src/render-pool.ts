import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { RenderCrashed, UndecodableImage } from './render-errors.ts';
import type { RenderCall, RenderMessage, RenderOrder } from './render-order.ts';

// The largest number of render threads. At least two, so that a picture need not wait for a film. One core stays free
// for HTTP requests. A film may start one more thread of its own (film-helper.ts).
const THREADS = Math.min(8, Math.max(2, availableParallelism() - 1));
const IDLE_MS = 30_000;
// A thread checks its stop flag between frames and layers. If the thread has not stopped within this time after an
// abort, it is terminated.
const STOP_GRACE_MS = 400;
// The JavaScript heap of a thread. A render uses about 30 MB of it; pixels are outside of the heap.
const THREAD_HEAP_MB = 256;

interface Job {
  order: RenderOrder;
  onProgress: (share: number) => void;
  onPartial: (picture: Uint8Array) => void;
  resolve: (pictures: Uint8Array[]) => void;
  reject: (reason: unknown) => void;
}

/** A worker with its current handlers. They change when the worker gets a job, and when it becomes idle. */
interface Thread {
  worker: Worker;
  onMessage: (message: RenderMessage) => void;
  onExit: (cause: unknown) => void;
  /** Ends the thread after it was idle for a while. */
  idleTimer?: NodeJS.Timeout;
}

/**
 * Renders in worker threads, in the order of the calls. Films never take the last thread, so a picture may start before
 * a film that was ordered earlier.
 */
export class RenderPool {
  private readonly queue: Job[] = [];
  private readonly idle: Thread[] = [];
  private readonly running = new Map<Job, { thread: Thread; stop: (reason: unknown) => void }>();
  private closed = false;

  get load(): { running: number; waiting: number } {
    return { running: this.running.size, waiting: this.queue.length };
  }

  /**
   * @param onProgress gets the share of the whole work that is done, 0 to 1
   * @param onPartial gets the early stages of an order of pictures, as PNGs
   * @returns the PNGs of an order of pictures; an empty array for a film, which is in the file `order.path`
   * @throws UndecodableImage
   * @throws RenderCrashed
   * @throws Error when the pool is closed
   * @throws the signal's reason, within half a second of its abort
   */
  render(
    order: RenderOrder,
    signal: AbortSignal,
    onProgress: (share: number) => void,
    onPartial: (picture: Uint8Array) => void = () => undefined,
  ): Promise<Uint8Array[]> {
    return new Promise<Uint8Array[]>((resolve, reject) => {
      signal.throwIfAborted();
      if (this.closed) throw new Error('the render pool is closed');
      const onAbort = () => this.abort(job, signal.reason);
      const job: Job = {
        order,
        onProgress,
        onPartial,
        resolve: (pictures) => {
          signal.removeEventListener('abort', onAbort);
          resolve(pictures);
        },
        reject: (reason) => {
          signal.removeEventListener('abort', onAbort);
          reject(reason);
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.queue.push(job);
      this.startNextJobs();
    });
  }

  /** Terminates every thread. Queued and running jobs fail. */
  async close(): Promise<void> {
    this.closed = true;
    for (const job of this.queue.splice(0)) job.reject(new Error('the render pool was closed'));
    for (const { stop } of this.running.values()) stop(new Error('the render pool was closed'));
    const threads = [...this.idle.splice(0), ...[...this.running.values()].map(({ thread }) => thread)];
    for (const { idleTimer } of threads) clearTimeout(idleTimer);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  private abort(job: Job, reason: unknown): void {
    const at = this.queue.indexOf(job);
    if (at < 0) return this.running.get(job)?.stop(reason);
    this.queue.splice(at, 1);
    job.reject(reason);
  }

  private startNextJobs(): void {
    while (this.running.size < THREADS) {
      const films = [...this.running.keys()].filter(({ order }) => order.kind === 'film').length;
      const at = this.queue.findIndex(({ order }) => order.kind === 'pictures' || films < THREADS - 1);
      const job = this.queue[at];
      if (!job) return;
      this.queue.splice(at, 1);
      this.start(job);
    }
  }

  private start(job: Job): void {
    const thread = this.idle.pop() ?? startThread();
    clearTimeout(thread.idleTimer);
    const stopFlag = new SharedArrayBuffer(4);
    let stopped: { reason: unknown } | null = null;
    let forceTimer: NodeJS.Timeout | undefined;

    /** Settles the job and starts the next one. `reusable` says whether the thread may run another job. */
    const end = (settle: () => void, reusable: boolean) => {
      if (!this.running.delete(job)) return;
      clearTimeout(forceTimer);
      if (reusable && !this.closed) this.park(thread);
      else terminate(thread);
      if (stopped) job.reject(stopped.reason);
      else settle();
      if (!this.closed) this.startNextJobs();
    };
    thread.onExit = (cause) => end(() => job.reject(new RenderCrashed('a render thread crashed', { cause })), false);
    thread.onMessage = (message) => {
      if (message.type === 'progress') return job.onProgress(message.share);
      if (message.type === 'partial') return job.onPartial(message.picture);
      // The memory of WebAssembly never shrinks, so the thread ends after a film to free it.
      const reusable = job.order.kind === 'pictures';
      if (message.type === 'done') return end(() => job.resolve(message.pictures), reusable);
      if (message.type === 'stopped') return end(() => job.reject(new Error('a render stopped unasked')), reusable);
      const error = new UndecodableImage(message.param, new Error(message.message));
      return end(() => job.reject(error), reusable);
    };
    this.running.set(job, {
      thread,
      stop: (reason) => {
        stopped ??= { reason };
        Atomics.store(new Int32Array(stopFlag), 0, 1);
        forceTimer ??= setTimeout(() => end(() => undefined, false), STOP_GRACE_MS);
      },
    });
    thread.worker.ref();
    thread.worker.postMessage({ order: job.order, stop: stopFlag } satisfies RenderCall, []);
  }

  /** Keeps a thread for the next job. An idle thread does not keep the process alive, and ends after 30 s. */
  private park(thread: Thread): void {
    thread.worker.unref();
    this.idle.push(thread);
    const remove = () => this.idle.splice(this.idle.indexOf(thread), 1);
    thread.idleTimer = setTimeout(() => {
      remove();
      terminate(thread);
    }, IDLE_MS).unref();
    thread.onExit = () => {
      clearTimeout(thread.idleTimer);
      if (this.idle.includes(thread)) remove();
    };
  }
}

function startThread(): Thread {
  // In dist this file and render.thread are JavaScript. In development both are TypeScript, whose types Node strips.
  const here = fileURLToPath(import.meta.url);
  const file = fileURLToPath(new URL(`./render.thread${extname(here)}`, import.meta.url));
  const worker = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB } });
  const thread: Thread = { worker, onMessage: () => undefined, onExit: () => undefined };
  worker.on('message', (message: RenderMessage) => thread.onMessage(message));
  worker.on('error', (error) => thread.onExit(error));
  worker.on('exit', (code) => thread.onExit(new Error(`a render thread ended with code ${code}`)));
  return thread;
}

function terminate(thread: Thread): void {
  thread.onMessage = () => undefined;
  thread.onExit = () => undefined;
  void thread.worker.terminate();
}
