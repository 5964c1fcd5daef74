import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../../errors/api-error.ts';
import { hasBody } from '../has-body.ts';
import { parseStrictJson } from './strict-json.ts';

/** Any charset but UTF-8, quoted or not. The quote is inside the lookahead, where the match cannot backtrack over it. */
const OTHER_CHARSET = /;\s*charset\s*=(?!\s*"?utf-?8\b)/i;

/**
 * JSON is the only body we read. An empty one is none, whatever its type says: many clients announce a type on a POST
 * that carries nothing, such as a cancel.
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

/** We decompress nothing: a small body that unfolds to a huge one must not get in. */
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
 * For inputs that are not checked by the validation pipe: the body as an object.
 * @throws ApiError invalid_json when there is none, invalid_body when it is something else
 */
export function requireJsonObject(body: unknown): Record<string, unknown> {
  if (body === undefined)
    throw new ApiError('invalid_json', { message: 'The request body is empty; send a JSON object.' });
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new ApiError('invalid_body');
  return body as Record<string, unknown>;
}
