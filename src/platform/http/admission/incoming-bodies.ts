import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';
import { hasBody } from '../has-body.ts';
import type { HttpLimits } from '../limits.ts';

/** What a piece of a body costs in memory beside its bytes, so that one sent byte by byte is not taken for small. */
const PIECE_BYTES = 512;

/**
 * Bounds what bodies hold that are still coming in. Past the bound the one that has been longest on its way is refused with
 * 503: who dawdles makes room for who does not, and an ordinary body is in before anybody could pass it by.
 */
export class IncomingBodies {
  /** Bytes held, the oldest first. */
  private readonly held = new Map<IncomingMessage, number>();
  private sum = 0;

  constructor(private readonly limits: HttpLimits) {}

  watch(fastify: FastifyInstance): void {
    fastify.addHook('preParsing', ({ raw }, reply, _payload, done) => {
      if (hasBody(raw.headers)) {
        raw.on('data', (piece: Buffer) => this.add(raw, piece.length + PIECE_BYTES));
        // Refused, or the client has hung up. The request's own 'close' does not come after a 413.
        reply.raw.once('close', () => this.drop(raw));
        this.held.set(raw, 0);
      }
      done(); // at once: the parser has to listen before the first piece comes
    });
    fastify.addHook('preValidation', ({ raw }, _reply, done) => {
      this.drop(raw); // it is in
      done();
    });
  }

  private add(request: IncomingMessage, bytes: number): void {
    const before = this.held.get(request);
    if (before === undefined) return; // what comes after a refusal is not kept
    this.held.set(request, before + bytes);
    this.sum += bytes;
    while (this.sum > this.limits.incomingBytesAtOnce) this.refuseOldest();
  }

  private refuseOldest(): void {
    const [oldest] = this.held.keys();
    if (!oldest) return;
    this.drop(oldest);
    // Whoever collects the pieces hears it as a failure of the body. Nobody does where the body was not wanted.
    if (oldest.listenerCount('error') > 0) oldest.emit('error', tooSlow());
  }

  private drop(request: IncomingMessage): void {
    this.sum -= this.held.get(request) ?? 0;
    this.held.delete(request);
  }
}

function tooSlow(): ApiError {
  return new ApiError('service_unavailable', {
    message:
      'The service has more bodies coming in than it can hold, and this one has been longest on its way; try again.',
    headers: { 'retry-after': '1' },
  });
}
