import { ApiQuery } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { GuardedRequest } from '../../auth/access/access.ts';

/** A request for the bytes of a file. */
export type FileRequest = FastifyRequest<{ Querystring: Record<string, unknown> }> & GuardedRequest;

/** A signature permits the request without a key. With neither, the handler reports the missing signature. */
export const isSigned = (request: GuardedRequest): boolean => {
  const { signature, expires } = (request as FileRequest).query;
  return signature !== undefined || expires !== undefined || request.headers.authorization === undefined;
};

/** The parameters of a signed link. */
export const Signature = () => (target: object, name: string | symbol, descriptor: PropertyDescriptor) => {
  ApiQuery({ name: 'expires', required: false, description: 'unix seconds', schema: { type: 'string' } })(
    target,
    name,
    descriptor,
  );
  ApiQuery({ name: 'signature', required: false, schema: { type: 'string' } })(target, name, descriptor);
};

/**
 * The file came from a provider or a client, so a browser must execute nothing in it. Browsers show an image or video
 * in a generated page, to which the policy also applies: hence the sources and styles.
 */
export const FILE_POLICY = "sandbox; default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'";

/** A signed answer may be kept for as long as its link works. */
export function cacheControlOf(request: FileRequest, maxAgeS = Infinity): string {
  const secondsLeft = Math.max(0, Number(request.query.expires) - Math.ceil(Date.now() / 1000));
  return isSigned(request) ? `private, max-age=${Math.min(secondsLeft, maxAgeS)}` : 'private, no-cache';
}

/**
 * Pages ask for a download by the URL, because browsers ignore the attribute `download` of links that lead elsewhere.
 */
export const isDownload = ({ query }: FileRequest): boolean => query.download !== undefined;
