import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';
import type { HttpLimits } from '../limits.ts';

/** Event streams stay open for hours and hold little; they have bounds of their own. */
const isStream = (request: FastifyRequest): boolean => request.routeOptions.url?.endsWith('/events') ?? false;

/**
 * Refuses what would be one request too many with 503, before memory does it for all. Counted is what has come in whole and
 * is not answered, so that clients who dawdle over a body take nobody's place.
 */
export class LoadBound {
  private requests = 0;
  private bodyBytes = 0;

  constructor(private readonly limits: HttpLimits) {}

  /** @throws ApiError service_unavailable */
  refuseWhenFull(): void {
    const { requestsAtOnce, bodyBytesAtOnce } = this.limits;
    if (this.requests < requestsAtOnce && this.bodyBytes < bodyBytesAtOnce) return;
    throw new ApiError('service_unavailable', {
      message: 'The service has more requests under way than it can take; try again.',
      headers: { 'retry-after': '1' },
    });
  }

  /** @param isExempt requests that are answered whatever the load */
  count(fastify: FastifyInstance, isExempt: (request: FastifyRequest) => boolean): void {
    fastify.addHook('preValidation', (request, reply, done) => {
      if (isStream(request) || isExempt(request)) return done();
      try {
        this.refuseWhenFull();
      } catch (error) {
        return done(error as Error);
      }
      const bytes = this.bytesOf(request);
      this.requests += 1;
      this.bodyBytes += bytes;
      reply.raw.once('close', () => {
        this.requests -= 1;
        this.bodyBytes -= bytes;
      });
      done();
    });
  }

  /** A body without a length may be as long as any. */
  private bytesOf({ body, headers }: FastifyRequest): number {
    if (body === undefined) return 0;
    return Number(headers['content-length'] ?? this.limits.bodyBytes);
  }
}
