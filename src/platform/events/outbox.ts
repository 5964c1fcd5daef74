import { randomUUID } from 'node:crypto';

type News = readonly [topic: string, body: string];

/** What waits while the connection is away. Past that news is dropped, and whoever hears us is told to re-read. */
const MAX_WAITING = 50_000;

/** As it travels: who says it, the news, and for how many seconds back news of this sender was dropped (0: none). */
type Payload = [from: string, news: News[], droppedS: number];

/**
 * News on its way out, gathered into few messages. What a failed sending took goes back to the front, so that a broken
 * connection loses nothing by itself.
 */
export class Outbox {
  private readonly self = randomUUID().slice(0, 8);
  private waiting: News[] = [];
  /** Since when news has been dropped, on the monotonic clock; null: nothing was. */
  private droppingSince: number | null = null;

  /** @param maxBytes of one message */
  constructor(private readonly maxBytes: number) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.droppingSince === null;
  }

  add(topic: string, body: string): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.waiting = [];
      this.droppingSince ??= performance.now();
    }
    this.waiting.push([topic, body]);
  }

  /**
   * Sends the next message.
   * @throws what `send` threw; nothing is lost then
   */
  async send(send: (message: string) => Promise<unknown>): Promise<void> {
    const news = this.take();
    const since = this.droppingSince;
    try {
      await send(JSON.stringify([this.self, news, secondsSince(since)] satisfies Payload));
      if (this.droppingSince === since) this.droppingSince = null;
    } catch (error) {
      this.waiting = [...news, ...this.waiting];
      throw error;
    }
  }

  /** @returns null for a message of our own: this process knows already */
  read(message: string): { news: News[]; droppedS: number } | null {
    const [from, news, droppedS] = JSON.parse(message) as Payload;
    return from === this.self ? null : { news, droppedS };
  }

  private take(): News[] {
    let bytes = this.self.length + 40;
    let count = 0;
    for (const [topic, body] of this.waiting) {
      bytes += Buffer.byteLength(JSON.stringify([topic, body])) + 1;
      if (count > 0 && bytes > this.maxBytes) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }
}

/** With a margin: news dropped had waited for a while itself. */
const secondsSince = (since: number | null): number =>
  since === null ? 0 : Math.ceil((performance.now() - since) / 1000) + 60;
