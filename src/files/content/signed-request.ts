import { ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { GuardedRequest } from '../../auth/access/access.ts';

export type FileRequest = FastifyRequest<{ Querystring: Record<string, unknown> }> & GuardedRequest;

/**
 * Whether the signature decides about the request, which then needs no key. Also true for a request with neither a
 * signature nor a key, so that the handler reports the missing signature.
 */
export const isSigned = (request: GuardedRequest): boolean => {
  const { signature, expires } = (request as FileRequest).query;
  return signature !== undefined || expires !== undefined || request.headers.authorization === undefined;
};

/** Documents the parameters of a signed link. */
export const Signature = () => (target: object, name: string | symbol, descriptor: PropertyDescriptor) => {
  ApiQuery({ name: 'expires', required: false, description: 'unix seconds', schema: { type: 'string' } })(
    target,
    name,
    descriptor,
  );
  ApiQuery({ name: 'signature', required: false, schema: { type: 'string' } })(target, name, descriptor);
};

/**
 * The file came from a provider or a client, so a browser must execute nothing in it. A browser shows an image or video
 * inside a page that the browser generates. The policy applies to that page too, so it allows the file itself and
 * styles.
 */
export const FILE_POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/**
 * An answer to a signed link may be cached while the link works, but not longer than `maxAgeS`. Any other answer is
 * checked at each use.
 */
export function cacheControlOf(request: FileRequest, maxAgeS = Infinity): string {
  const secondsLeft = Math.max(0, Number(request.query.expires) - Math.ceil(Date.now() / 1000));
  return isSigned(request) ? `private, max-age=${Math.min(secondsLeft, maxAgeS)}` : 'private, no-cache';
}

/** Pages ask for a download in the URL, because browsers ignore the attribute `download` of links to another origin. */
export const isDownload = ({ query }: FileRequest): boolean => query.download !== undefined;
