import { Logger } from '@nestjs/common';
import { partitionedSeconds, ECHO_TOPIC, echoSeconds } from './bus-metrics.ts';
import type { Transport } from './transport.ts';

const TICK_MS = 250;
/** Ticks between two echoes: an echo is sent every second. */
const ECHO_TICKS = 4;
/**
 * After 2 s in which no message of this process came back, the bus counts as silent: an echo then had at least a second
 * to return.
 */
const SILENT_TICKS = 8;
/**
 * The ticks between two attempts with new connections double up to this number (8 s), because each attempt costs the
 * server.
 */
const MAX_BACKOFF_TICKS = 32;
/** An echo that takes longer is measured as lost. */
const GIVEN_UP_MS = TICK_MS * SILENT_TICKS;

const ECHO = new RegExp(String.raw`\["${ECHO_TOPIC}","(\d+)"\]`);

/**
 * Finds out whether this process receives from the bus: its own messages must come back, whatever the state of the
 * connections. All times are of this process's clock. Silence is counted in ticks, so time in which this process stood
 * still does not count as silence.
 */
export class Echo {
  private readonly logger = new Logger('bus');
  private readonly heardOnce = Promise.withResolvers<void>();
  private timer: NodeJS.Timeout | undefined;
  private ticks = 0;
  private silentTicks = 0;
  private backoffTicks = SILENT_TICKS;
  private isHearing = false;
  private isReported = { disconnected: false, silent: false };
  private lastError: Error | undefined;
  private listeningSinceMs = 0;
  /**
   * The send time of the newest echo that came back; null before the first. Everything published earlier has arrived
   * too.
   */
  private completeUntilMs: number | null = null;
  /** The send times of the echoes that have not come back yet. */
  private waiting: number[] = [];

  constructor(
    private readonly transport: Pick<Transport, 'isUp' | 'renew'>,
    private readonly publish: (topic: string, body: string) => void,
    private readonly reportMissed: (missedS: number) => void,
  ) {}

  get isHeard(): boolean {
    return this.isHearing;
  }

  /** Resolves once the first message of this process has come back. */
  get first(): Promise<void> {
    return this.heardOnce.promise;
  }

  start(): void {
    this.timer = setInterval(() => this.tick(), TICK_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Call this when the connection is new. Its first echo shows whether the connection carries anything. */
  listening(): void {
    this.listeningSinceMs = performance.now();
    this.send();
  }

  /** Call this when the connection is gone, or could not be made. Logs an outage once. */
  interrupted(error?: Error): void {
    this.isHearing = false;
    this.failed(error);
    if (this.isReported.disconnected || this.isReported.silent) return;
    this.isReported.disconnected = true;
    this.logger.warn({ event: 'bus.disconnected', err: this.lastError });
  }

  /** Remembers the error for the log. */
  failed(error?: Error): void {
    this.lastError = error ?? this.lastError;
  }

  /** @param message a message of this process that came back */
  received(message: string): void {
    this.silentTicks = 0;
    if (!this.isHearing) this.recovered();
    const sent = ECHO.exec(message)?.[1];
    if (sent !== undefined) this.observe(Number(sent));
  }

  private recovered(): void {
    this.isHearing = true;
    this.backoffTicks = SILENT_TICKS;
    const wasReported = this.isReported.disconnected || this.isReported.silent;
    this.isReported = { disconnected: false, silent: false };
    this.lastError = undefined;
    if (this.completeUntilMs === null) {
      this.heardOnce.resolve();
      if (wasReported) this.logger.log({ event: 'bus.connected' });
      return;
    }
    const missedS = Math.ceil((performance.now() - this.completeUntilMs) / 1000);
    this.logger.log({ event: 'bus.reconnected', missed_s: missedS });
    partitionedSeconds.inc(missedS);
    this.reportMissed(missedS);
  }

  private observe(sentMs: number): void {
    this.completeUntilMs = Math.max(this.completeUntilMs ?? 0, sentMs);
    if (!this.waiting.includes(sentMs)) return; // given up, and measured as lost
    this.waiting = this.waiting.filter((waiting) => waiting !== sentMs);
    echoSeconds.observe((performance.now() - sentMs) / 1000);
  }

  private tick(): void {
    this.ticks += 1;
    if (this.ticks % ECHO_TICKS === 0) this.send();
    this.giveUp();
    this.silentTicks += 1;
    if (this.silentTicks >= this.backoffTicks) this.partitioned();
  }

  /** During an outage no echo is sent, because echoes would fill the outbox. The missing echo counts as lost. */
  private send(): void {
    const sentMs = Math.floor(performance.now());
    this.waiting.push(sentMs);
    if (this.transport.isUp) this.publish(ECHO_TOPIC, String(sentMs));
  }

  private giveUp(): void {
    const now = performance.now();
    const isLost = (sentMs: number): boolean => now - sentMs >= GIVEN_UP_MS;
    for (const sentMs of this.waiting.filter(isLost)) echoSeconds.observe((now - sentMs) / 1000);
    this.waiting = this.waiting.filter((sentMs) => !isLost(sentMs));
  }

  private partitioned(): void {
    this.isHearing = false;
    if (!this.isReported.silent) {
      this.isReported.silent = true;
      this.logger.warn({ event: 'bus.deaf', silent_s: GIVEN_UP_MS / 1000, err: this.lastError });
    }
    if (performance.now() - this.listeningSinceMs < GIVEN_UP_MS) return; // too early: an echo may still come
    this.silentTicks = 0;
    this.backoffTicks = Math.min(this.backoffTicks * 2, MAX_BACKOFF_TICKS);
    this.transport.renew();
  }
}
