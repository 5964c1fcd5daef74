import type { FastifyReply } from 'fastify';
import type { Socket } from 'node:net';

/** What happened to the response of a call. Each is called once at most, but `lost` may follow `delivered`. */
interface DeliveryEvents {
  /** The outcome was written completely to an open connection. */
  delivered(): void;
  /** The response ended without the outcome, or the connection closed before the end. */
  hungUp(): void;
  /** The client reset the connection although the outcome was written: it has not read all of it. */
  lost(): void;
}

/** How long a connection is observed after the response; a client that stops reading resets it much sooner. */
const OBSERVED_MS = 2_000;

/** Observes whether the outcome of a call reaches its client. */
export class Delivery {
  private hasOutcome = false;

  constructor(
    reply: FastifyReply,
    private readonly events: DeliveryEvents,
  ) {
    const { raw } = reply;
    const { socket } = raw;
    let isOver = false;
    const end = (isDelivered: boolean) => {
      if (isOver) return;
      isOver = true;
      if (!isDelivered) return events.hungUp();
      events.delivered();
      if (socket) this.observe(socket);
    };
    raw.once('finish', () => end(this.hasOutcome && socket?.destroyed === false));
    raw.once('close', () => end(false));
    if (raw.destroyed) end(false);
  }

  /** Call before the outcome is sent. */
  outcomeFollows(): void {
    this.hasOutcome = true;
  }

  private observe(socket: Socket): void {
    const onError = () => this.events.lost();
    socket.once('error', onError);
    setTimeout(() => socket.off('error', onError), OBSERVED_MS).unref();
  }
}
