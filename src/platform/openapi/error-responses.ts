import { type ErrorCode, ERRORS } from '../../errors/catalog.ts';
import { type Json, refTo } from '../schema/component.ts';
import { NOT_REPEATED_STATUS, NOT_TO_REPEAT } from '../../errors/not-to-repeat.ts';
import { FAULTS, SCOPE_KEY } from './faults.ts';
import { headerRefs } from './headers.ts';

const OF_THE_KEY: ErrorCode[] = ['missing_api_key', 'invalid_api_key', 'api_key_revoked', 'api_key_expired'];
const WITH_A_KEY: ErrorCode[] = ['unknown_parameter', ...OF_THE_KEY, 'rate_limit_exceeded'];
const WITH_A_QUERY: ErrorCode[] = ['invalid_type', 'invalid_value', 'value_out_of_range'];
const WITH_A_BODY: ErrorCode[] = [
  'missing_required_parameter',
  'unknown_parameter',
  'invalid_type',
  'invalid_value',
  'value_out_of_range',
  'string_too_long',
  'too_many_items',
  'invalid_unicode',
  'invalid_body',
  'request_timeout',
  'payload_too_large',
  'unsupported_media_type',
];
const WITH_JSON: ErrorCode[] = ['invalid_json', 'duplicate_key', 'json_too_deep'];
const WITH_A_FORM: ErrorCode[] = ['invalid_multipart', 'invalid_image'];
const WITH_AN_IDEMPOTENCY_KEY: ErrorCode[] = [
  'invalid_idempotency_key',
  'idempotency_in_progress',
  'idempotency_key_reused',
];
const ALWAYS: ErrorCode[] = ['internal_error', 'service_unavailable'];
/** Errors of the connection, and of addresses that are no route. */
export const NOT_OF_A_ROUTE: readonly ErrorCode[] = [
  'bad_request',
  'headers_too_large',
  'route_not_found',
  'method_not_allowed',
];
/** Codes that have the status 400, not that of the catalogue, when they are about a field of the body. */
const IN_A_BODY: ErrorCode[] = ['model_not_found', 'file_not_found', 'file_expired'];
/** Operations that have a body, but for which the codes of `IN_A_BODY` are about the path. */
const OF_A_FILE = ['keepFile'];

/**
 * Documents the errors that an operation may answer: one response for each status, one example for each code.
 * @param shared gets the responses that many operations have
 */
export function addErrorResponses(operation: Json, method: string, shared: Json): void {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codesOf(operation))) {
    for (const status of statusesOf(code, operation)) byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  delete operation[FAULTS];
  delete operation[SCOPE_KEY];
  for (const [status, codes] of [...byStatus].toSorted(([a], [b]) => a - b)) {
    const name = method === 'head' ? undefined : sharedName(codes);
    const response = responseOf(codes, status, method);
    if (name) shared[name] = response;
    operation.responses[status] ??= name ? { $ref: `#/components/responses/${name}` } : response;
  }
  operation.responses.default ??= { $ref: '#/components/responses/Error' };
}

function codesOf(operation: Json): ErrorCode[] {
  const { parameters = [], requestBody, security } = operation;
  const named: ErrorCode[] = operation[FAULTS] ?? [];
  const isPublic = security?.length === 0;
  const types = Object.keys(requestBody?.content ?? {});
  return [
    ...(isPublic ? [] : WITH_A_KEY),
    ...(operation[SCOPE_KEY] ? (['insufficient_scope'] as const) : []),
    ...(parameters.some((each: Json) => each.in === 'query') && !isPublic ? WITH_A_QUERY : []),
    ...(requestBody ? WITH_A_BODY : []),
    ...(types.includes('application/json') ? WITH_JSON : []),
    ...(types.includes('multipart/form-data') ? WITH_A_FORM : []),
    ...(parameters.some((each: Json) => each.name === 'Idempotency-Key') ? WITH_AN_IDEMPOTENCY_KEY : []),
    ...named,
    ...ALWAYS,
  ];
}

/**
 * The name of a response that several operations share: `Unauthorized` for the errors of the key, otherwise the name of
 * its only code, such as `TaskNotFound` for `task_not_found`.
 * @returns undefined for any other response with several codes, which stays in its operation
 */
function sharedName(codes: ErrorCode[]): string | undefined {
  if (codes.length === OF_THE_KEY.length && codes.every((code) => OF_THE_KEY.includes(code))) return 'Unauthorized';
  if (codes.length > 1) return undefined;
  return codes[0]!.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function statusesOf(code: ErrorCode, operation: Json): number[] {
  if (operation.requestBody && IN_A_BODY.includes(code) && !OF_A_FILE.includes(operation.operationId)) return [400];
  const isOutcome = operation[FAULTS]?.includes('task_cancelled') && NOT_TO_REPEAT.includes(code);
  return [ERRORS[code].status, ...(isOutcome ? [NOT_REPEATED_STATUS] : [])];
}

function responseOf(codes: ErrorCode[], status: number, method: string): Json {
  const description = codes.map((code) => `\`${code}\``).join(', ');
  const headers = headerRefs(
    'x-request-id',
    ...(status === 429 || status === 503 ? (['Retry-After'] as const) : []),
    ...(status === 429 ? (['RateLimit', 'RateLimit-Policy'] as const) : []),
  );
  if (method === 'head') return { description, headers };
  return {
    description,
    headers,
    content: { 'application/json': { schema: refTo('ErrorResponse'), examples: exampleRefs(codes) } },
  };
}

export const exampleRefs = (codes: readonly ErrorCode[]): Json =>
  Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]));

/** One example for each code, with the message of the catalogue. */
export function errorExamples(): Json {
  return Object.fromEntries(
    Object.entries(ERRORS).map(([code, { message, type }]) => [
      code,
      { value: { error: { message, type, param: null, code, request_id: 'req_01jd8e5t9kf3qs7m2v4xw6yzab' } } },
    ]),
  );
}

/** The schemas for the body of every error. */
export function errorSchemas(): Json {
  const types = [...new Set(Object.values(ERRORS).map(({ type }) => type))];
  const fields: Record<string, Json> = {
    message: { type: 'string', description: 'for people: what is wrong and what is allowed' },
    type: { allOf: [refTo('ErrorType')], description: 'the category of the error' },
    param: {
      type: ['string', 'null'],
      description: 'the field that caused the error, such as `reference_images[2]`; null if no field did',
    },
    code: { allOf: [refTo('ErrorCode')], description: 'for programs; new codes may be added' },
    request_id: { type: 'string', description: 'the same as in `x-request-id`' },
  };
  const errors: Json = {
    type: 'array',
    maxItems: 100,
    items: { type: 'object', additionalProperties: true },
    description:
      'of `batch_invalid`: the faults of the items, each with index, line, custom_id, code, param and message',
  };
  const error: Json = { type: 'object', required: Object.keys(fields), properties: { ...fields, errors } };
  return {
    ErrorCode: { type: 'string', enum: Object.keys(ERRORS) },
    ErrorType: { type: 'string', enum: types },
    ErrorResponse: { type: 'object', required: ['error'], properties: { error } },
  };
}
