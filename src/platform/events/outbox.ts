import { randomUUID } from 'node:crypto';

type News = readonly [topic: string, body: string];

/** What waits while the connection is away. Past that news is dropped, and whoever hears us is told to re-read. */
const MAX_WAITING = 50_000;

/** As it travels: who says it, the news, and for how many seconds back news of this sender was dropped (0: none). */
type Payload = [from: string, news: News[], droppedS: number];

/** Of a payload without news: more than it ever has. */
const FRAME_BYTES = 40;

/**
 * News on its way out, gathered into few messages. What a failed sending took goes back to the front, so that a broken
 * connection loses nothing by itself.
 */
export class Outbox {
  private readonly self = randomUUID().slice(0, 8);
  /** As JSON. */
  private waiting: string[] = [];
  /** Since when news has been dropped, on the monotonic clock; null: nothing was. */
  private droppingSince: number | null = null;

  /**
   * @param maxBytes of one message
   * @param maxMessages of one sending
   */
  constructor(
    private readonly maxBytes: number,
    private readonly maxMessages = 1,
  ) {}

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.droppingSince === null;
  }

  add(topic: string, body: string): void {
    if (this.waiting.length >= MAX_WAITING) {
      this.waiting = [];
      this.droppingSince ??= performance.now();
    }
    this.waiting.push(JSON.stringify([topic, body] satisfies News));
  }

  /**
   * Sends the next messages.
   * @throws what `send` threw; nothing is lost then
   */
  async send(send: (messages: string[]) => Promise<unknown>): Promise<void> {
    const since = this.droppingSince;
    const taken: string[][] = [this.take()];
    while (this.waiting.length > 0 && taken.length < this.maxMessages) taken.push(this.take());
    const droppedS = secondsSince(since);
    try {
      // Said once: whoever hears it reads everything again.
      await send(taken.map((news, at) => `["${this.self}",[${news.join(',')}],${at === 0 ? droppedS : 0}]`));
      if (this.droppingSince === since) this.droppingSince = null;
    } catch (error) {
      this.waiting = [...taken.flat(), ...this.waiting];
      throw error;
    }
  }

  /** @returns null for a message of our own: this process knows already */
  read(message: string): { news: News[]; droppedS: number } | null {
    if (message.startsWith(`["${this.self}"`)) return null;
    const [, news, droppedS] = JSON.parse(message) as Payload;
    return { news, droppedS };
  }

  private take(): string[] {
    let bytes = FRAME_BYTES;
    let count = 0;
    for (const news of this.waiting) {
      bytes += Buffer.byteLength(news) + 1;
      if (count > 0 && bytes > this.maxBytes) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }
}

/** With a margin: news dropped had waited for a while itself. */
const secondsSince = (since: number | null): number =>
  since === null ? 0 : Math.ceil((performance.now() - since) / 1000) + 60;
