import type { FastifyReply } from 'fastify';
import type { Socket } from 'node:net';

/** What happened to the response of a call. */
interface DeliveryEvents {
  /** A result is about to be written as the outcome. */
  answering(): Promise<void>;
  /** The outcome was written completely to an open connection. */
  delivered(): void;
  /**
   * The response ends without the outcome, or the connection closed before the end of the response. May be called
   * twice.
   */
  hungUp(): Promise<void>;
  /** The client reset the connection after the outcome was written, so it has not read the whole outcome. */
  lost(): void;
  /** A failure is about to be written as the outcome. */
  failed(): Promise<void>;
}

/**
 * How long a connection is observed after the response. A client that stops reading resets its connection much sooner.
 */
const OBSERVED_MS = 2_000;

/** For each connection, the events of the calls that were just answered over it. */
const answers = new WeakMap<Socket, Set<DeliveryEvents>>();

/**
 * The calls that were just answered over this connection. They share one listener: a connection may serve many calls,
 * and Node warns of more than ten listeners.
 */
function answersOf(socket: Socket): Set<DeliveryEvents> {
  const known = answers.get(socket);
  if (known) return known;
  const answered = new Set<DeliveryEvents>();
  answers.set(socket, answered);
  socket.on('error', () => {
    for (const { lost } of answered) lost();
  });
  return answered;
}

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
      if (!isDelivered) return void events.hungUp();
      events.delivered();
      if (socket) this.observe(socket);
    };
    raw.once('finish', () => end(this.hasOutcome && socket?.destroyed === false));
    raw.once('close', () => end(false));
    if (raw.destroyed) end(false);
  }

  /** Call and await this before a result is sent, because the client may send its next call at once. */
  outcomeFollows(): Promise<void> {
    this.hasOutcome = true;
    return this.events.answering();
  }

  /** Call and await this before a failure is sent, because the client may repeat its call at once. */
  failureFollows(): Promise<void> {
    this.hasOutcome = true;
    return this.events.failed();
  }

  /**
   * Call and await this before an answer without the outcome is sent, because the client may repeat its call at once.
   */
  nothingFollows(): Promise<void> {
    return this.events.hungUp();
  }

  private observe(socket: Socket): void {
    const answered = answersOf(socket);
    answered.add(this.events);
    setTimeout(() => answered.delete(this.events), OBSERVED_MS).unref();
  }
}
