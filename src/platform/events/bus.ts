import { setTimeout as sleep } from 'node:timers/promises';
import { outsideOfRequests } from '../observe/logging/request-context.ts';
import { Echo } from './echo.ts';
import { Inbox } from './inbox.ts';
import { Outbox } from './outbox.ts';
import { Subscribers } from './subscribers.ts';
import type { Transport } from './transport.ts';

/**
 * How long `start` waits at most for a message of this process to come back. The transport keeps trying in the
 * background.
 */
const START_TIMEOUT_MS = 5_000;

/**
 * Ephemeral events between processes. Events may be lost. So a subscriber must be able to read its data again, and does
 * so when the bus reports that events may have been missed. Whatever must not be lost is stored in the database.
 *
 * The first event is sent at once; events that follow are batched for a few milliseconds. A process does not receive
 * its own events.
 */
export class Bus {
  private readonly subscribers = new Subscribers();
  private readonly outbox: Outbox;
  private readonly inbox: Inbox;
  private readonly echo: Echo;
  private sending = false;
  private stopped = false;

  constructor(private readonly transport: Transport) {
    const reportMissed = (missedS: number) => this.subscribers.reportMissed(missedS);
    this.outbox = new Outbox(transport.maxMessageBytes, transport.maxMessages);
    this.echo = new Echo(transport, (topic, body) => this.publish(topic, body), reportMissed);
    this.inbox = new Inbox(this.outbox, this.subscribers, (text) => this.echo.received(text));
  }

  /** Whether events get through. If not, this process relies on polls. */
  get isConnected(): boolean {
    return this.echo.isHeard;
  }

  /** How many events wait to be sent. */
  get waiting(): number {
    return this.outbox.size;
  }

  /**
   * Sends an event to every other process, batched with others into few messages. A body must have at most 500 bytes.
   */
  publish(topic: string, body: string): void {
    this.outbox.add(topic, body);
    void outsideOfRequests(() => this.send());
  }

  /** @returns a function that ends the subscription */
  subscribe(topic: string, listener: (bodies: string[]) => void): () => void {
    return this.subscribers.subscribe(topic, listener);
  }

  /**
   * Calls the listener when events may have been missed: this process reconnected, another process dropped events, or a
   * message could not be handled.
   * @param listener gets an upper bound of the seconds since the first missed event was published
   */
  onReconnect(listener: (missedS: number) => void): void {
    this.subscribers.onReconnect(listener);
  }

  async start(): Promise<void> {
    await this.transport.open({
      received: (text) => this.inbox.receive(text),
      listening: () => this.echo.listening(),
      sendable: () => void this.send(),
      interrupted: (error) => {
        if (!this.stopped) this.echo.interrupted(error);
      },
      failed: (error) => this.echo.failed(error),
    });
    this.echo.start();
    await Promise.race([this.echo.first, sleep(START_TIMEOUT_MS, undefined, { ref: false })]);
  }

  /** Sends the waiting events if it can, then closes the transport. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.echo.stop();
    try {
      while (!this.outbox.isEmpty && this.transport.canSend) await this.sendNext();
    } catch {
      // The events are lost, but subscribers also poll from time to time.
    }
    await this.transport.close();
  }

  private async send(): Promise<void> {
    if (this.sending) return;
    this.sending = true;
    try {
      while (!this.outbox.isEmpty && this.transport.canSend && !this.stopped) {
        await this.sendNext().catch(() => undefined); // the transport replaces the connection
        await sleep(this.transport.throttleMs, undefined, { ref: false });
      }
    } finally {
      this.sending = false;
    }
  }

  private sendNext(): Promise<void> {
    return this.outbox.send((messages) => this.transport.send(messages));
  }
}
