import { randomUUID } from 'node:crypto';
import { droppedEvents, eventsSent } from './bus-metrics.ts';

type BusEvent = readonly [topic: string, body: string];

/**
 * The most events that wait while the connection is down. One more event drops all waiting events, and the receivers
 * are asked to read their data again.
 */
const MAX_WAITING = 50_000;

/** The wire format: the sender, its events, and for how many seconds back it dropped events (0: none). */
type Payload = [from: string, events: BusEvent[], droppedS: number];

/** The most dropped seconds that a message may report: more than any process lives. */
const MAX_DROPPED_S = 1e9;

/** Upper bound for the bytes of a payload without events. */
const FRAME_BYTES = 40;

/**
 * Outgoing events, batched into few messages. Events of a failed send return to the front, so a broken connection loses
 * none until too many wait.
 */
export class Outbox {
  private readonly senderId = randomUUID().slice(0, 8);
  /** The waiting events, each as JSON. */
  private waiting: string[] = [];
  /** When events were first dropped since the last report, on the monotonic clock; null: none were dropped. */
  private droppingSince: number | null = null;

  /**
   * @param maxBytes the most bytes of a message
   * @param maxMessages the most messages of a send
   */
  constructor(
    private readonly maxBytes: number,
    private readonly maxMessages = 1,
  ) {}

  /** How many events wait to be sent. */
  get size(): number {
    return this.waiting.length;
  }

  get isEmpty(): boolean {
    return this.waiting.length === 0 && this.droppingSince === null;
  }

  add(topic: string, body: string): void {
    eventsSent(topic);
    if (this.waiting.length >= MAX_WAITING) {
      droppedEvents.inc(this.waiting.length);
      this.waiting = [];
      this.droppingSince ??= performance.now();
    }
    this.waiting.push(JSON.stringify([topic, body] satisfies BusEvent));
  }

  /**
   * Sends the next messages.
   * @throws what `send` threw; no event is lost then
   */
  async send(send: (messages: string[]) => Promise<unknown>): Promise<void> {
    const since = this.droppingSince;
    const batches: string[][] = [this.takeBatch()];
    while (this.waiting.length > 0 && batches.length < this.maxMessages) batches.push(this.takeBatch());
    const droppedS = secondsSince(since);
    try {
      // Only the first message reports dropped events, because the report makes every receiver read everything again.
      await send(batches.map((events, at) => `["${this.senderId}",[${events.join(',')}],${at === 0 ? droppedS : 0}]`));
      if (this.droppingSince === since) this.droppingSince = null;
    } catch (error) {
      this.waiting = [...batches.flat(), ...this.waiting];
      throw error;
    }
  }

  /**
   * @returns null for a message of this process, which has handled its own events already
   * @throws MalformedMessage
   */
  read(message: string): { events: BusEvent[]; droppedS: number } | null {
    if (message.startsWith(`["${this.senderId}"`)) return null;
    const payload = parse(message);
    if (!isPayload(payload)) throw new MalformedMessage();
    const [, events, droppedS] = payload;
    return { events, droppedS };
  }

  private takeBatch(): string[] {
    let bytes = FRAME_BYTES;
    let count = 0;
    for (const event of this.waiting) {
      bytes += Buffer.byteLength(event) + 1;
      if (count > 0 && bytes > this.maxBytes) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }
}

/**
 * A message that is not a `Payload`. Any client of the database may NOTIFY and any client of Redis may PUBLISH, for
 * example another version of this service.
 */
export class MalformedMessage extends Error {}

function parse(message: string): unknown {
  try {
    return JSON.parse(message);
  } catch {
    throw new MalformedMessage();
  }
}

function isPayload(value: unknown): value is Payload {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [from, events, droppedS] = value as unknown[];
  return typeof from === 'string' && Array.isArray(events) && events.every(isBusEvent) && isSeconds(droppedS);
}

function isBusEvent(value: unknown): value is BusEvent {
  return Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string');
}

const isSeconds = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value <= MAX_DROPPED_S;

/** Adds 60 s, because the dropped events had been waiting for a while themselves. */
const secondsSince = (since: number | null): number =>
  since === null ? 0 : Math.ceil((performance.now() - since) / 1000) + 60;
