import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { isPlainJson } from '../../platform/schema/plain-json.ts';
import { type SocketMessage, socketMessage } from './comfy-wire.ts';
import { ProgressMeter } from './progress-meter.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;

/**
 * The largest message. A larger one, such as an image that a node sends over the socket, closes the socket, and some
 * progress messages are lost. Each task has its own socket, which keeps a message in memory until the message is
 * complete.
 */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * The first pause before a reconnect; each further pause is twice as long. The history is polled meanwhile, so a dead
 * socket costs only progress messages.
 */
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

/**
 * The pause between reads of the history once the socket has reported the end: the server writes the history a moment
 * later.
 */
const ENDED_MS = 100;

interface FollowedRun {
  meter: ProgressMeter;
  progress: (percent: number) => void;
  ended: AbortController;
}

/**
 * Follows a task's runs over the server's socket. The socket only reports progress; results and failures come from the
 * history.
 */
export class JobWatch {
  private readonly runs = new Map<string, FollowedRun>();
  private socket: WebSocket | null = null;
  private timer: NodeJS.Timeout | null = null;
  private retryMs = FIRST_RETRY_MS;
  private closed = false;

  constructor(
    /** `ws(s)://…/ws?clientId=…` */
    private readonly url: string,
    private readonly headers: Record<string, string>,
  ) {
    this.open();
  }

  /** Follows a run from the next message on. After a second call for the same run, its progress begins at 0 again. */
  follow(id: string, nodeIds: Iterable<string>): void {
    const progress = this.runs.get(id)?.progress ?? (() => undefined);
    this.runs.set(id, { meter: new ProgressMeter(nodeIds), progress, ended: new AbortController() });
  }

  /** Reports the current progress at once, and then every change. */
  report(id: string, progress: (percent: number) => void): void {
    const run = this.runs.get(id);
    if (!run) return;
    run.progress = progress;
    progress(run.meter.percent);
  }

  /** Waits `ms`, or less when the socket reports the end of the run. @throws the reason of the signal */
  async waitForEnd(id: string, ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ended = this.runs.get(id)?.ended.signal;
    const hasEnded = ended?.aborted ?? false;
    const stop = ended && !hasEnded ? AbortSignal.any([signal, ended]) : signal;
    await sleep(hasEnded ? Math.min(ms, ENDED_MS) : ms, undefined, { signal: stop }).catch(() => undefined);
    signal.throwIfAborted();
  }

  close(): void {
    this.closed = true;
    if (this.timer) clearTimeout(this.timer);
    this.socket?.terminate();
  }

  private open(): void {
    this.timer = null;
    const socket = new WebSocket(this.url, {
      headers: this.headers,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_MESSAGE_BYTES,
      perMessageDeflate: false,
      followRedirects: false,
    });
    this.socket = socket;
    socket.on('open', () => (this.retryMs = FIRST_RETRY_MS));
    socket.on('message', (bytes: Buffer, isBinary) => {
      if (!isBinary && !this.closed) this.receive(parse(bytes));
    });
    socket.on('error', () => undefined); // the event 'close' follows
    socket.on('close', () => this.reconnectLater());
  }

  private reconnectLater(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => this.open(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
  }

  private receive(message: SocketMessage | null): void {
    const id = message?.data.prompt_id;
    const run = typeof id === 'string' ? this.runs.get(id) : undefined;
    if (!message || !run) return; // the message is about the whole queue, or a run of another task
    run.meter.update(message);
    run.progress(run.meter.percent);
    if (run.meter.ended) run.ended.abort();
  }
}

function parse(bytes: Buffer): SocketMessage | null {
  if (!isPlainJson(bytes)) return null;
  try {
    return socketMessage.safeParse(JSON.parse(bytes.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}
