import { Logger } from '@nestjs/common';
import type { Outbox } from './outbox.ts';
import type { Subscribers } from './subscribers.ts';

/**
 * At most one report and one log line about failed messages in this time, because a report makes this process read its
 * data again.
 */
const REPORT_EVERY_MS = 5_000;
/**
 * After a failed message, the events of this many seconds count as missed. The events in a message are published
 * shortly before the message comes.
 */
const MISSED_S = 10;

/**
 * Incoming messages of a bus. A malformed message, or a subscriber that throws, must not end the process. Either counts
 * as missed events, so the subscribers read the current state instead.
 */
export class Inbox {
  private readonly logger = new Logger('bus');
  private failed = 0;
  private pause: NodeJS.Timeout | undefined;

  constructor(
    private readonly outbox: Outbox,
    private readonly subscribers: Subscribers,
    private readonly onOwn: (text: string) => void,
  ) {}

  receive(text: string): void {
    try {
      const message = this.outbox.read(text);
      if (!message) {
        this.onOwn(text);
        return;
      }
      this.subscribers.deliver(message.events);
      if (message.droppedS > 0) this.subscribers.reportMissed(message.droppedS);
    } catch (err) {
      this.failed += 1;
      if (this.pause === undefined) this.report(err);
    }
  }

  /** Reports the first failed message at once, and those of the next `REPORT_EVERY_MS` together. */
  private report(err?: unknown): void {
    this.logger.warn({ event: 'bus.message_failed', messages: this.failed, err });
    this.failed = 0;
    this.pause = setTimeout(() => {
      this.pause = undefined;
      if (this.failed > 0) this.report();
    }, REPORT_EVERY_MS).unref();
    this.subscribers.reportMissed(MISSED_S);
  }
}
