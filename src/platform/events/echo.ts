import { randomUUID } from 'node:crypto';
import { ECHO_TOPIC, echoSeconds } from './bus-metrics.ts';

/** The next one is sent then; the one before is given up. */
const EVERY_MS = 10_000;

/**
 * Measures how long a message of this process takes to the bus and back, by its own clock alone. A connection that only looks open
 * gives nothing back.
 */
export class Echo {
  private timer: NodeJS.Timeout | undefined;
  private waiting: { body: string; sentMs: number } | null = null;

  constructor(private readonly publish: (topic: string, body: string) => void) {}

  start(): void {
    this.send();
    this.timer = setInterval(() => this.send(), EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** @param message of this process, as it came back */
  received(message: string): void {
    if (this.waiting && message.includes(`"${this.waiting.body}"`)) this.observe();
  }

  private send(): void {
    this.observe();
    this.waiting = { body: randomUUID(), sentMs: performance.now() };
    this.publish(ECHO_TOPIC, this.waiting.body);
  }

  private observe(): void {
    if (this.waiting) echoSeconds.observe((performance.now() - this.waiting.sentMs) / 1000);
    this.waiting = null;
  }
}
