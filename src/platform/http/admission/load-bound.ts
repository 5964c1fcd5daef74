import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';
import type { HttpLimits } from '../limits.ts';

/** Event streams stay open for hours and need little memory; they have their own limits. */
const isStream = (request: FastifyRequest): boolean => request.routeOptions.url?.endsWith('/events') ?? false;

/**
 * Rejects requests over a limit with 503 before memory runs out. Counts only requests that were received completely, so
 * that slow uploads do not use up the limit.
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
      message: 'The service has too many requests in flight; try again.',
      retryAfterS: 1,
    });
  }

  /** @param isExempt requests that are never rejected */
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

  /** A body without a length counts as the largest allowed. */
  private bytesOf({ body, headers }: FastifyRequest): number {
    if (body === undefined) return 0;
    return Number(headers['content-length'] ?? this.limits.bodyBytes);
  }
}
