import { availableParallelism } from 'node:os';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ProviderError } from '../providers/provider.ts';
import type { RenderCall, RenderNews, RenderOrder } from './render-order.ts';

// Two at least, so that a picture need not wait behind a film; one core is left to those who answer requests.
const THREADS = Math.min(8, Math.max(2, availableParallelism() - 1));
const IDLE_MS = 30_000;
// A thread looks at its flag between frames and layers; one that is deep in a long step is ended by force.
const STOP_GRACE_MS = 400;
// JavaScript memory only; pixels are outside of it. A render holds some 30 MB.
const THREAD_HEAP_MB = 256;

interface Job {
  order: RenderOrder;
  onProgress: (share: number) => void;
  resolve: (pictures: Uint8Array[]) => void;
  reject: (reason: unknown) => void;
}

/** A worker and whom its news concern at the moment: the job it serves, or its rest. */
interface Thread {
  worker: Worker;
  onNews: (news: RenderNews) => void;
  onEnd: (cause: unknown) => void;
  /** Ends it when it has rested long enough. */
  idle?: NodeJS.Timeout;
}

/** Renders in worker threads, first come first served. Films leave one thread free for pictures. */
export class RenderPool {
  readonly #waiting: Job[] = [];
  readonly #resting: Thread[] = [];
  readonly #running = new Map<Job, { thread: Thread; stop: (reason: unknown) => void }>();
  #closed = false;

  /**
   * @param onProgress share of the whole that is done, 0 to 1
   * @returns the PNGs of a pictures order; nothing for a film, which is in its file
   * @throws ProviderError reference_image_invalid or internal_error; the signal's reason within half a second of its abort
   */
  render(order: RenderOrder, signal: AbortSignal, onProgress: (share: number) => void): Promise<Uint8Array[]> {
    return new Promise<Uint8Array[]>((resolve, reject) => {
      signal.throwIfAborted();
      if (this.#closed) throw new Error('the render pool is closed');
      const onAbort = () => this.#leave(job, signal.reason);
      const job: Job = {
        order,
        onProgress,
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
      this.#waiting.push(job);
      this.#startWhatMay();
    });
  }

  /** Ends every thread; what is still asked for fails. */
  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.reject(new Error('the render pool was closed'));
    for (const { stop } of this.#running.values()) stop(new Error('the render pool was closed'));
    const threads = [...this.#resting.splice(0), ...[...this.#running.values()].map(({ thread }) => thread)];
    for (const { idle } of threads) clearTimeout(idle);
    await Promise.all(threads.map(({ worker }) => worker.terminate()));
  }

  #leave(job: Job, reason: unknown): void {
    const at = this.#waiting.indexOf(job);
    if (at < 0) return this.#running.get(job)?.stop(reason);
    this.#waiting.splice(at, 1);
    job.reject(reason);
  }

  #startWhatMay(): void {
    while (this.#running.size < THREADS) {
      const films = [...this.#running.keys()].filter(({ order }) => order.kind === 'film').length;
      const at = this.#waiting.findIndex(({ order }) => order.kind === 'pictures' || films < THREADS - 1);
      const job = this.#waiting[at];
      if (!job) return;
      this.#waiting.splice(at, 1);
      this.#start(job);
    }
  }

  #start(job: Job): void {
    const thread = this.#resting.pop() ?? open();
    clearTimeout(thread.idle);
    const stop = new SharedArrayBuffer(4);
    let stopped: { reason: unknown } | null = null;
    let force: NodeJS.Timeout | undefined;

    /** Settles the job and gives its place to the next; `keep` says whether the thread may serve again. */
    const end = (settle: () => void, keep: boolean) => {
      if (!this.#running.delete(job)) return;
      clearTimeout(force);
      if (keep && !this.#closed) this.#rest(thread);
      else retire(thread);
      if (stopped) job.reject(stopped.reason);
      else settle();
      if (!this.#closed) this.#startWhatMay();
    };
    thread.onEnd = (cause) => end(() => job.reject(new ProviderError('internal_error', { cause })), false);
    thread.onNews = (news) => {
      if (news.type === 'progress') return job.onProgress(news.share);
      // WebAssembly memory never shrinks: the thread of a film goes, and its memory with it.
      const keep = job.order.kind === 'pictures';
      if (news.type === 'done') return end(() => job.resolve(news.pictures), keep);
      if (news.type === 'stopped') return end(() => job.reject(new Error('a render stopped unasked')), keep);
      const { param, message } = news;
      const error = new ProviderError('reference_image_invalid', { param, cause: new Error(message) });
      return end(() => job.reject(error), keep);
    };
    this.#running.set(job, {
      thread,
      stop: (reason) => {
        stopped ??= { reason };
        Atomics.store(new Int32Array(stop), 0, 1);
        force ??= setTimeout(() => end(() => undefined, false), STOP_GRACE_MS);
      },
    });
    thread.worker.ref();
    thread.worker.postMessage({ order: job.order, stop } satisfies RenderCall, []);
  }

  /** A resting thread never holds the process, and ends after a while. */
  #rest(thread: Thread): void {
    thread.worker.unref();
    this.#resting.push(thread);
    const leave = () => this.#resting.splice(this.#resting.indexOf(thread), 1);
    thread.idle = setTimeout(() => {
      leave();
      retire(thread);
    }, IDLE_MS).unref();
    thread.onEnd = () => {
      clearTimeout(thread.idle);
      if (this.#resting.includes(thread)) leave();
    };
  }
}

function open(): Thread {
  // The built file stands beside the built pool; in development both are TypeScript, which Node strips.
  const here = fileURLToPath(import.meta.url);
  const file = fileURLToPath(new URL(`./render.thread${extname(here)}`, import.meta.url));
  const worker = new Worker(file, { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB } });
  const thread: Thread = { worker, onNews: () => undefined, onEnd: () => undefined };
  worker.on('message', (news: RenderNews) => thread.onNews(news));
  worker.on('error', (error) => thread.onEnd(error));
  worker.on('exit', (code) => thread.onEnd(new Error(`a render thread ended with code ${code}`)));
  return thread;
}

function retire(thread: Thread): void {
  thread.onNews = () => undefined;
  thread.onEnd = () => undefined;
  void thread.worker.terminate();
}
