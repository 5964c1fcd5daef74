import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../../../errors/api-error.ts';
import { bodyOf } from '../request.ts';

interface ArrivalLimits {
  totalMs: number;
  bytesPerS: number;
  paceWindowMs: number;
  lingerMs: number;
}

/** How often the pace is measured in each `paceWindowMs`. */
const SAMPLES = 10;

const watched = new WeakSet<Socket>();

/**
 * Whether the body on this connection is watched. Node's own timeout has one value for all requests, so that timeout
 * does not apply to a watched body.
 */
export const isWatched = (socket: Socket): boolean => watched.has(socket);

/**
 * Watches the arrival of one body: the body must end in time, and must not come too slowly. A body that waits for this
 * process to write, and not for the client to send, does not count as slow.
 * @param onSlow called at most once, with `request_timeout`
 * @returns a function that stops the watch
 */
export function watchArrival(
  raw: IncomingMessage,
  { totalMs, bytesPerS, paceWindowMs }: ArrivalLimits,
  onSlow: (error: ApiError) => void,
): () => void {
  const { socket } = raw;
  const begunAt = Date.now();
  let samples = [socket.bytesRead];
  const check = () => {
    if (raw.complete) return;
    if (raw.isPaused()) samples = [];
    samples.push(socket.bytesRead);
    if (samples.length > SAMPLES + 1) samples.shift();
    const received = samples.at(-1)! - samples[0]!;
    const isTrickle = samples.length > SAMPLES && received < (bytesPerS * paceWindowMs) / 1_000;
    if (!isTrickle && Date.now() - begunAt <= totalMs) return;
    stop();
    onSlow(new ApiError('request_timeout'));
  };
  const timer = setInterval(check, paceWindowMs / SAMPLES).unref();
  const stop = () => {
    clearInterval(timer);
    watched.delete(socket);
  };
  watched.add(socket);
  raw.once('end', stop).once('close', stop);
  return stop;
}

/**
 * Discards the rest of a rejected body for a while, then closes the connection. Closing at once would reset the
 * connection, and a client that is still sending would never read the response.
 */
export function discardRest(raw: IncomingMessage, lingerMs: number): void {
  if (raw.complete || raw.destroyed) return;
  bodyOf(raw).resume();
  const timer = setTimeout(() => raw.socket.destroy(), lingerMs).unref();
  raw.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
}
