import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';
import { hasBody } from '../has-body.ts';
import { parseStrictJson } from './strict-json.ts';

/**
 * Any charset but UTF-8, quoted or not. The quote is inside the lookahead, where the match cannot backtrack over it.
 */
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*(?:"utf-?8"|utf-?8\b))/i;

/**
 * JSON is the only content type of bodies, but for routes that accept files. An empty body counts as no body, whatever
 * its content type: many clients send one with a POST without a body, such as a cancel.
 */
export function acceptJsonBodiesOnly(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body: Buffer, done) => {
    let value: unknown;
    try {
      if (OTHER_CHARSET.test(request.headers['content-type']!)) throw unsupported('JSON bodies are UTF-8.');
      if (body.length > 0) value = parseStrictJson(body);
    } catch (error) {
      return done(error as Error);
    }
    return done(null, value);
  });
  fastify.addContentTypeParser('*', (request, _payload, done) => {
    if (hasBody(request.headers)) done(new ApiError('unsupported_media_type'));
    else done(null, undefined);
  });
}

/** Compressed bodies are rejected, because a small one may expand to a huge one. */
export function refuseEncodedBody(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding === undefined || encoding === 'identity' || !hasBody(request.headers)) return;
  throw new ApiError('unsupported_media_type', {
    message: 'Send the body without Content-Encoding.',
    headers: { 'accept-encoding': 'identity' },
  });
}

function unsupported(message: string): ApiError {
  return new ApiError('unsupported_media_type', { message });
}

/**
 * Returns the body as an object, for inputs that the validation pipe does not check.
 * @throws ApiError invalid_json without a body, invalid_body when it is not an object
 */
export function requireJsonObject(body: unknown): Record<string, unknown> {
  if (body === undefined)
    throw new ApiError('invalid_json', { message: 'The request body is empty; send a JSON object.' });
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ApiError('invalid_body');
  return body as Record<string, unknown>;
}
