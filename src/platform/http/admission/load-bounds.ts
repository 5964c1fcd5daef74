import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { ApiError } from '../../../errors/api-error.ts';
import type { HttpLimits } from '../limits.ts';
import { bodyOf, hasBody, routeOf } from '../request.ts';
import { isStreamed } from '../multipart/accepts-body.ts';

/** Memory per received chunk, besides its bytes. Otherwise a body that is sent byte by byte would count as small. */
const CHUNK_OVERHEAD_BYTES = 512;

/**
 * Limits the memory of bodies that are still being received. Over the limit, rejects the oldest upload with 503. A
 * normal upload completes long before it is the oldest.
 */
export class IncomingBodies {
  /** Bytes per upload, the oldest first. */
  private readonly uploads = new Map<IncomingMessage, number>();
  private sum = 0;

  constructor(private readonly limits: HttpLimits) {}

  watch(fastify: FastifyInstance): void {
    fastify.addHook('preParsing', (request, reply, _payload, done) => {
      const { raw } = request;
      // A body that goes to disk as it arrives takes no memory here. A listener would start its stream too early.
      if (hasBody(raw.headers) && !isStreamed(request)) {
        bodyOf(raw).on('data', (chunk: Buffer) => this.add(raw, chunk.length + CHUNK_OVERHEAD_BYTES));
        // For a body that was rejected or whose client disconnected. After a 413 the request itself emits no 'close'.
        reply.raw.once('close', () => this.drop(raw));
        this.uploads.set(raw, 0);
      }
      done(null, bodyOf(raw)); // synchronously: the parser must listen before the first chunk arrives
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
    // The body parser handles this as an error of the request. Without a parser (a body on a GET) there is no listener.
    const body = bodyOf(oldest);
    if (body.listenerCount('error') > 0) body.emit('error', oldestUpload());
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

/** Smaller answers are not counted: the limit of requests in flight bounds them. */
const SMALL_CHARACTERS = 16 * 1024;
/** The bytes that a stream counts as, whatever its length: a stream reads about this much ahead of its client. */
export const STREAM_BYTES = 64 * 1024;

/** The answers that one caller has not read yet: the bytes of each, the oldest first. */
interface Held {
  answers: Map<ServerResponse, number>;
  bytes: number;
}

/**
 * Limits the memory of answers that their clients have not read yet. Event streams are not counted, other streams are.
 * Over the limit, closes the oldest connection of the caller that holds most.
 */
export class UnreadAnswers {
  /** By credential; by address where a request has none. */
  private readonly callers = new Map<string, Held>();
  private sum = 0;

  constructor(private readonly limits: Pick<HttpLimits, 'unreadBytesAtOnce'>) {}

  get bytes(): number {
    return this.sum;
  }

  watch(fastify: FastifyInstance): void {
    fastify.addHook('onSend', (request, { raw }, payload, done) => {
      // The client may have gone while the handler worked. Then 'close' does not come again.
      const bytes = raw.destroyed || isStream(request) ? 0 : memoryOf(payload);
      if (bytes > 0) this.add(callerOf(request), raw, bytes);
      done();
    });
  }

  private add(caller: string, answer: ServerResponse, bytes: number): void {
    const held = this.callers.get(caller) ?? { answers: new Map(), bytes: 0 };
    this.callers.set(caller, held);
    held.answers.set(answer, bytes);
    held.bytes += bytes;
    this.sum += bytes;
    answer.once('close', () => this.drop(caller, held, answer));
    while (this.sum > this.limits.unreadBytesAtOnce) this.cutLargest();
  }

  private cutLargest(): void {
    let [largest] = this.callers;
    for (const each of this.callers) if (each[1].bytes > largest![1].bytes) largest = each;
    const [caller, held] = largest!;
    const [oldest] = held.answers.keys();
    this.drop(caller, held, oldest!);
    oldest!.destroy();
  }

  private drop(caller: string, held: Held, answer: ServerResponse): void {
    const bytes = held.answers.get(answer) ?? 0;
    held.answers.delete(answer);
    held.bytes -= bytes;
    this.sum -= bytes;
    if (held.answers.size === 0) this.callers.delete(caller);
  }
}

/** The bytes that an answer takes in memory; 0 if they are too few to count. */
function memoryOf(payload: unknown): number {
  if (payload instanceof Readable) return STREAM_BYTES;
  const isText = typeof payload === 'string' || Buffer.isBuffer(payload);
  return isText && payload.length > SMALL_CHARACTERS ? Buffer.byteLength(payload) : 0;
}

const callerOf = ({ headers, ip }: FastifyRequest): string => headers.authorization ?? headers.cookie ?? ip;

/** Event streams stay open for hours and need little memory; they have their own limits. */
const isStream = (request: FastifyRequest): boolean => routeOf(request).url?.endsWith('/events') ?? false;

const RELEASE = Symbol('release');

/**
 * The function is a field of the request, because requests in a Map or WeakMap survived two garbage collections, which
 * took 2 us per request (measured).
 */
type CountedRequest = FastifyRequest & { [RELEASE]?: (() => void) | null };

/**
 * Stops counting a request, and frees its body. Call this for a request that from now on only waits, under other
 * limits. The handler must not read the body again.
 */
export function stopCounting(request: CountedRequest): void {
  request[RELEASE]?.();
  request.body = undefined;
}

/**
 * Rejects requests over a limit with 503 before memory runs out. Does not count a request whose body is still being
 * received into memory, so that slow uploads do not use up the limit.
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

  /** @param isExempt whether a request is neither counted nor rejected */
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

  /**
   * A body without a length counts as the largest allowed. A body that goes to disk counts as the memory of its
   * buffers.
   */
  private bytesOf(request: FastifyRequest): number {
    const { body, headers } = request;
    if (body === undefined) return 0;
    if (isStreamed(request)) return this.limits.uploads.memoryBytes;
    return Number(headers['content-length'] ?? routeOf(request).bodyLimit ?? this.limits.bodyBytes);
  }
}
