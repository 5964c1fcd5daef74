import { applyDecorators } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import type { Json } from '../schema/component.ts';

const text = (description: string) => ({ description, schema: { type: 'string' } });

/** The headers of responses, each described once. */
export const HEADERS = {
  'x-request-id': text('Include it when you report a problem.'),
  RateLimit: text('What is left of the rate limit of the key, as in draft-ietf-httpapi-ratelimit-headers.'),
  'RateLimit-Policy': text('The rate limit of the key, as in draft-ietf-httpapi-ratelimit-headers.'),
  'Retry-After': {
    description: 'Seconds to wait before the next request.',
    schema: { type: 'integer', minimum: 0 },
  },
  Location: text('The path of what was created.'),
  'Idempotent-Replayed': {
    description: 'Only on the answer to a repeated request: nothing new was created.',
    schema: { type: 'string', const: 'true' },
  },
  ETag: text('The state of what was read; send it as `If-None-Match`.'),
  'Model-Version': text(
    'The version of the model as it is loaded now. If it differs from the one in the body, the model has changed.',
  ),
  'Preference-Applied': text('The `Prefer` that was followed.'),
} as const satisfies Record<string, Json>;

export type HeaderName = keyof typeof HEADERS;

export const headerRefs = (...names: HeaderName[]): Json =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The headers of an answer to a creation that may be repeated. */
export const CREATED_HEADERS = headerRefs('Location', 'Idempotent-Replayed', 'Model-Version');

/**
 * Documents the header `Idempotency-Key` of a route that creates once per key. The documented errors of the route
 * follow from this header.
 */
export const TakesIdempotencyKey = (): MethodDecorator =>
  applyDecorators(
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        'The same key and body get the answer of the first request and create nothing again. 1 to 255 printable ASCII characters.',
      schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7E]+$' },
    }),
  );
