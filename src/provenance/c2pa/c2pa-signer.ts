import { rm, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ConfigError } from '../../platform/config/config.ts';
import type { StorageBody } from '../../platform/storage/storage.ts';
import type { Credential } from './credential.ts';
import type { SignerData, SignOrder, SignReply } from './sign-order.ts';

/**
 * Larger files are not signed. The library takes four times the size of a file in memory: 1.1 GB for 250 MB, the size
 * of 20 s of 4K video.
 */
export const MAX_SIGNED_BYTES = 256 * 1024 * 1024;
/** WebAssembly memory never shrinks. After a file larger than this the thread ends, so that its memory is freed. */
const REUSED_UP_TO_BYTES = 32 * 1024 * 1024;
const IDLE_MS = 30_000;
const TIMEOUT_MS = 120_000;

/** A PNG of one pixel, which `check` signs. */
const SAMPLE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==',
  'base64',
);

/** A worker thread and its handlers, which are replaced when an order begins and when it ends. */
interface Thread {
  worker: Worker;
  onReply: (reply: SignReply) => void;
  onExit: (cause: unknown) => void;
}

/** Signs outputs one at a time, to bound the memory, and in a thread, to keep the event loop free. */
export class C2paSigner {
  private thread: Thread | null = null;
  private idleTimer: NodeJS.Timeout | undefined;
  private last: Promise<unknown> = Promise.resolve();
  private closed = false;

  constructor(private readonly credential: Credential) {}

  /**
   * Signs a sample and reads it back. @throws ConfigError when readers would not accept the signatures; Error when the
   * signing fails
   */
  async check(): Promise<void> {
    const order = { subject: { bytes: SAMPLE }, contentType: 'image/png', model: 'gpt-image-2', verify: true };
    const { faults } = await this.next(order, SAMPLE.length);
    if (faults.length > 0) throw new ConfigError(faults.map((text) => `C2PA_CERT is not accepted: ${text}`));
  }

  /**
   * @returns the signed copy: in memory, or in a file beside the given one
   * @throws Error when the certificate has expired, the file is too large, or the signing fails
   */
  async sign(body: StorageBody, contentType: string, model: string): Promise<StorageBody> {
    if (new Date() > this.credential.expiresAt) throw new Error('the certificate in C2PA_CERT has expired');
    const size = Buffer.isBuffer(body) ? body.length : (await stat(body.path)).size;
    if (size > MAX_SIGNED_BYTES) throw new Error(`the file has ${size} bytes, more than ${MAX_SIGNED_BYTES}`);
    if (Buffer.isBuffer(body)) {
      const { bytes } = await this.next({ subject: { bytes: body }, contentType, model, verify: false }, size);
      return Buffer.from(bytes!.buffer, bytes!.byteOffset, bytes!.byteLength);
    }
    const target = `${body.path}.signed`;
    try {
      await this.next({ subject: { path: body.path, target }, contentType, model, verify: false }, size);
    } catch (error) {
      await rm(target, { force: true });
      throw error;
    }
    return { path: target };
  }

  async close(): Promise<void> {
    this.closed = true;
    this.thread?.onExit('the service is stopping');
    await this.endThread();
  }

  private next(order: SignOrder, size: number): Promise<Extract<SignReply, { ok: true }>> {
    const result = this.last.then(async () => {
      try {
        const reply = await this.send(order);
        if (!reply.ok) throw new Error(reply.message);
        return reply;
      } finally {
        if (size > REUSED_UP_TO_BYTES) await this.endThread();
      }
    });
    this.last = result.catch(() => undefined);
    return result;
  }

  private send(order: SignOrder): Promise<SignReply> {
    if (this.closed) throw new Error('the service is stopping');
    clearTimeout(this.idleTimer);
    const thread = (this.thread ??= this.startThread());
    thread.worker.ref();
    return new Promise<SignReply>((resolve, reject) => {
      const fail = (cause: unknown) => {
        clearTimeout(timer);
        void this.endThread();
        reject(new Error('the signing thread gave no answer', { cause }));
      };
      const timer = setTimeout(() => fail(`it took more than ${TIMEOUT_MS} ms`), TIMEOUT_MS);
      thread.onExit = fail;
      thread.onReply = (reply) => {
        clearTimeout(timer);
        this.park(thread);
        resolve(reply);
      };
      thread.worker.postMessage(order, []);
    });
  }

  /** An idle thread never keeps the process alive, and ends after 30 s. */
  private park(thread: Thread): void {
    thread.worker.unref();
    thread.onReply = () => undefined;
    thread.onExit = () => void this.endThread();
    this.idleTimer = setTimeout(() => void this.endThread(), IDLE_MS).unref();
  }

  private startThread(): Thread {
    // In dist, this file and that of the thread are JavaScript. In development both are TypeScript, whose types Node
    // strips.
    const here = fileURLToPath(import.meta.url);
    const file = fileURLToPath(new URL(`./sign.thread${extname(here)}`, import.meta.url));
    const { key, certificates } = this.credential;
    const worker = new Worker(file, { execArgv: [], workerData: { key, certificates } satisfies SignerData });
    const thread: Thread = { worker, onReply: () => undefined, onExit: () => undefined };
    worker.on('message', (reply: SignReply) => thread.onReply(reply));
    worker.on('error', (error) => thread.onExit(error));
    worker.on('exit', (code) => thread.onExit(`it ended with code ${code}`));
    return thread;
  }

  private async endThread(): Promise<void> {
    clearTimeout(this.idleTimer);
    const { thread } = this;
    this.thread = null;
    if (!thread) return;
    thread.onExit = () => undefined;
    await thread.worker.terminate();
  }
}
