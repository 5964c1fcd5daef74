import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';
import type { HttpLimits } from '../limits.ts';
import { routeOf } from '../route-of.ts';
import { isStreamed } from '../multipart/accepts-body.ts';

/** Event streams stay open for hours and need little memory; they have their own limits. */
const isStream = (request: FastifyRequest): boolean => routeOf(request).url?.endsWith('/events') ?? false;

const RELEASE = Symbol('release');

/** A field, because requests in a Map or WeakMap were measured to survive two garbage collections, which took 2 us each. */
type CountedRequest = FastifyRequest & { [RELEASE]?: (() => void) | null };

/**
 * Takes a request out of the count, and frees its body: from now on it only waits, and is bounded elsewhere. The
 * handler must not read the body again.
 */
export function stopCounting(request: CountedRequest): void {
  request[RELEASE]?.();
  request.body = undefined;
}

/**
 * Rejects requests over a limit with 503 before memory runs out. Counts only requests that were received completely, so
 * that slow uploads do not use up the limit.
 */
export class LoadBound {
  private requests = 0;
  private bodyBytes = 0;

  constructor(private readonly limits: HttpLimits) {}

  get active(): number {
    return this.requests;
  }

  get bodyBytesInFlight(): number {
    return this.bodyBytes;
  }

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
    fastify.decorateRequest(RELEASE, null);
    fastify.addHook('preValidation', (request: CountedRequest, reply, done) => {
      if (isStream(request) || isExempt(request)) return done();
      try {
        this.refuseWhenFull();
      } catch (error) {
        return done(error as Error);
      }
      const bytes = this.bytesOf(request);
      this.requests += 1;
      this.bodyBytes += bytes;
      const release = () => {
        if (!request[RELEASE]) return;
        request[RELEASE] = null;
        this.requests -= 1;
        this.bodyBytes -= bytes;
      };
      request[RELEASE] = release;
      reply.raw.once('close', release);
      done();
    });
  }

  /** A body without a length counts as the largest allowed. One that goes to disk counts as its buffers. */
  private bytesOf(request: FastifyRequest): number {
    const { body, headers } = request;
    if (body === undefined) return 0;
    if (isStreamed(request)) return this.limits.uploads.memoryBytes;
    return Number(headers['content-length'] ?? routeOf(request).bodyLimit ?? this.limits.bodyBytes);
  }
}
