import type { Reply } from './stub-http.ts';

const envelope = (status: number, error: object, headers?: Record<string, string>): { reply: Reply } => ({
  reply: {
    status,
    headers,
    body: { error: { message: 'in words', type: 'invalid_request_error', param: null, code: null, ...error } },
  },
});

/** The failures of OpenAI and of servers that implement its API. */
export const OPENAI_FAULTS = {
  moderated: envelope(400, {
    type: 'image_generation_user_error',
    code: 'moderation_blocked',
    message: 'Your request was rejected. safety_violations=[violence].',
    moderation_details: { moderation_stage: 'input', categories: ['violence'] },
  }),
  contentPolicy: envelope(400, { code: 'content_policy_violation' }),
  badSize: envelope(400, { param: 'size', code: 'invalid_value' }),
  badImage: envelope(400, { param: 'image[0]', code: 'invalid_image_file' }),
  tooLarge: envelope(413, { code: 'request_too_large' }),
  detailOnly: { reply: { status: 422, body: { detail: [{ loc: ['body', 'size'], msg: 'bad' }] } } },
  hardLimit: envelope(400, { code: 'billing_hard_limit_reached' }),
  noQuota: envelope(429, { type: 'insufficient_quota', code: 'insufficient_quota' }),
  badKey: envelope(401, { code: 'invalid_api_key', message: 'Incorrect API key provided: stub-key-5f2c9e.' }),
  notVerified: envelope(403, { message: 'Your organization must be verified.' }),
  noModel: envelope(404, { code: 'model_not_found' }),
  rateLimited: envelope(429, { type: 'requests', code: 'rate_limit_exceeded' }, { 'retry-after': '7' }),
  rateLimitedMs: envelope(429, { code: 'rate_limit_exceeded' }, { 'retry-after-ms': '1500', 'retry-after': '2' }),
  overloaded: envelope(503, { type: 'server_error', code: 'service_unavailable' }, { 'retry-after': '3' }),
  slowDown: envelope(503, { type: 'server_error', message: 'Slow Down: reduce your request rate.' }),
  unknownError: { reply: { status: 520, headers: { 'content-type': 'text/html' }, body: '<html>520</html>' } },
  unavailable: envelope(503, { type: 'server_error' }),
  serverError: envelope(500, { type: 'image_generation_server_error', code: 'server_error' }),
  badGateway: { reply: { status: 502, headers: { 'content-type': 'text/html' }, body: '<html>Bad Gateway</html>' } },
  gatewayTimeout: { reply: { status: 504, headers: { 'content-type': 'text/html' }, body: '<html>Timeout</html>' } },
  redirect: { reply: { status: 307, headers: { location: '/elsewhere' }, body: '' } },
  junkJson: { reply: { status: 200, headers: { 'content-type': 'application/json' }, body: '{"data":[' } },
  junkText: { reply: { status: 200, headers: { 'content-type': 'text/plain' }, body: 'welcome' } },
  noData: { reply: { status: 200, body: { created: 1 } } },
  emptyPicture: { reply: { status: 200, body: { created: 1, data: [{ b64_json: '' }] } } },
} satisfies Record<string, { reply: Reply }>;
