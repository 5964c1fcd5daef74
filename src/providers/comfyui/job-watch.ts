import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ProgressMeter, type SocketMessage } from './progress-meter.ts';

const HANDSHAKE_TIMEOUT_MS = 10_000;

/** A preview of the picture at work may be large; it is dropped unread. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;

/** After a drop: 1 s, doubling. The history is read meanwhile, so a socket that never comes back only costs news. */
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;

/** Between looks into the history once the socket said that a run ended: it is written a moment later. */
const ENDED_MS = 100;

interface Followed {
  meter: ProgressMeter;
  progress: (percent: number) => void;
  ended: AbortController;
}

/** Hears of a task's runs over the server's socket. Only news come from it; the truth is in the history. */
export class JobWatch {
  private readonly runs = new Map<string, Followed>();
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

  /** From now on; what was said before is lost. */
  follow(id: string, nodeIds: Iterable<string>): void {
    this.runs.set(id, { meter: new ProgressMeter(nodeIds), progress: () => undefined, ended: new AbortController() });
  }

  /** Reports what was heard so far, and from then on every change. */
  report(id: string, progress: (percent: number) => void): void {
    const run = this.runs.get(id);
    if (!run) return;
    run.progress = progress;
    progress(run.meter.percent);
  }

  /** Waits, but not longer than until the run is said to have ended. @throws the reason of the signal */
  async quiet(id: string, ms: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const ended = this.runs.get(id)?.ended.signal;
    const over = ended?.aborted ?? false;
    const stop = ended && !over ? AbortSignal.any([signal, ended]) : signal;
    await sleep(over ? Math.min(ms, ENDED_MS) : ms, undefined, { signal: stop }).catch(() => undefined);
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
      if (!isBinary && !this.closed) this.hear(parse(bytes));
    });
    socket.on('error', () => undefined); // 'close' follows
    socket.on('close', () => this.retry());
  }

  private retry(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => this.open(), this.retryMs);
    this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
  }

  private hear(message: SocketMessage | null): void {
    const id = message?.data.prompt_id;
    const run = typeof id === 'string' ? this.runs.get(id) : undefined;
    if (!message || !run) return; // of the queue as a whole, or of somebody else's run
    run.meter.hear(message);
    run.progress(run.meter.percent);
    if (run.meter.ended) run.ended.abort();
  }
}

function parse(bytes: Buffer): SocketMessage | null {
  try {
    const message = JSON.parse(bytes.toString('utf8')) as SocketMessage | null;
    return typeof message?.type === 'string' && typeof message.data === 'object' && message.data ? message : null;
  } catch {
    return null;
  }
}
