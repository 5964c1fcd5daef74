import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';
import { hasBody } from '../has-body.ts';
import type { HttpLimits } from '../limits.ts';
import { isStreamed } from '../multipart/accepts-body.ts';

/** Memory per received chunk beside its bytes. Without it a body sent byte by byte would count as small. */
const CHUNK_OVERHEAD_BYTES = 512;

/**
 * Limits the memory of bodies that are still being received. Over the limit, rejects the oldest upload with 503; a
 * normal one completes long before it is the oldest.
 */
export class IncomingBodies {
  /** Bytes per upload, the oldest first. */
  private readonly uploads = new Map<IncomingMessage, number>();
  private sum = 0;

  constructor(private readonly limits: HttpLimits) {}

  watch(fastify: FastifyInstance): void {
    fastify.addHook('preParsing', (request, reply, _payload, done) => {
      const { raw } = request;
      // A body that goes to disk as it arrives takes no memory here, and a listener would start it before its reader.
      if (hasBody(raw.headers) && !isStreamed(request)) {
        raw.on('data', (chunk: Buffer) => this.add(raw, chunk.length + CHUNK_OVERHEAD_BYTES));
        // Rejected, or the client disconnected. The request itself emits no 'close' after a 413.
        reply.raw.once('close', () => this.drop(raw));
        this.uploads.set(raw, 0);
      }
      done(); // synchronously: the parser must listen before the first chunk arrives
    });
    fastify.addHook('preValidation', ({ raw }, _reply, done) => {
      this.drop(raw); // received completely
      done();
    });
  }

  private add(request: IncomingMessage, bytes: number): void {
    const before = this.uploads.get(request);
    if (before === undefined) return; // chunks after a rejection are not stored
    this.uploads.set(request, before + bytes);
    this.sum += bytes;
    while (this.sum > this.limits.incomingBytesAtOnce) this.rejectOldest();
  }

  private rejectOldest(): void {
    const [oldest] = this.uploads.keys();
    if (!oldest) return;
    this.drop(oldest);
    // The body parser handles it as an error of the request. Without a parser (a body on a GET) there is no listener.
    if (oldest.listenerCount('error') > 0) oldest.emit('error', oldestUpload());
  }

  private drop(request: IncomingMessage): void {
    this.sum -= this.uploads.get(request) ?? 0;
    this.uploads.delete(request);
  }
}

function oldestUpload(): ApiError {
  return new ApiError('service_unavailable', {
    message:
      'The service is receiving more request bodies than it can hold, and this one has taken the longest; try again.',
    retryAfterS: 1,
  });
}
