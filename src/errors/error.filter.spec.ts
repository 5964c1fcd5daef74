import { BadRequestException, type ArgumentsHost, HttpException, Logger, NotFoundException } from '@nestjs/common';
import { jest } from '@jest/globals';
import { QueryFailedError, QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';
import { ApiError } from './api-error.ts';
import { ErrorFilter, errorHeaders, logServerError, toApiError, toErrorBody } from './error.filter.ts';

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

it('is logged when the request failed, and not when it reports the outcome of a task', () => {
  const logger = { error: jest.fn(), warn: jest.fn() } as unknown as Logger;
  for (const code of ['generation_timeout', 'provider_unavailable', 'worker_lost', 'invalid_value'] as const) {
    logServerError(logger, new ApiError(code), 'req_1');
  }
  expect(logger.error).not.toHaveBeenCalled();
  logServerError(logger, new ApiError('internal_error'), 'req_1');
  expect(logger.error).toHaveBeenCalledTimes(1);
});

describe('an error response', () => {
  it('has one shape, with the message of the code that throws', () => {
    const error = new ApiError('invalid_value', { param: 'reference_images[2]', message: 'Not so.' });
    expect(toErrorBody(error, 'req_1')).toEqual({
      error: {
        message: 'Not so.',
        type: 'invalid_request_error',
        param: 'reference_images[2]',
        code: 'invalid_value',
        request_id: 'req_1',
      },
    });
    expect(toErrorBody(new ApiError('task_not_found'), 'req_1').error.param).toBeNull();
  });

  it.each([
    ['missing_api_key', { 'www-authenticate': 'Bearer' }],
    ['api_key_expired', { 'www-authenticate': 'Bearer' }],
    ['idempotency_key_reused', { 'x-should-retry': 'false' }],
    ['idempotency_in_progress', { 'retry-after': '1' }],
    ['queue_full', { 'retry-after': '5' }],
    ['service_unavailable', { 'retry-after': expect.stringMatching(/^[1-5]$/) }],
    ['task_not_found', {}],
  ] as const)('%s has its headers', (code, headers) => expect(errorHeaders(new ApiError(code))).toEqual(headers));

  it('lets the code that throws override a header', () => {
    const error = new ApiError('service_unavailable', { headers: { 'retry-after': '5' } });
    expect(errorHeaders(error)).toEqual({ 'retry-after': '5' });
    expect(errorHeaders(new ApiError('service_unavailable', { retryAfterS: 1 }))).toEqual({ 'retry-after': '1' });
  });
});

describe('anything thrown', () => {
  const wrapped = (cause: Error) => new HttpException('wrapped', 400, { cause });
  const fastify = (code: string, statusCode: number) => Object.assign(withCode('fastify', code), { statusCode });

  it.each([
    ['a fault of the framework', wrapped(fastify('FST_ERR_CTP_BODY_TOO_LARGE', 413)), 413, 'payload_too_large'],
    ['an unknown media type', fastify('FST_ERR_CTP_INVALID_MEDIA_TYPE', 415), 415, 'unsupported_media_type'],
    ['an empty body', fastify('FST_ERR_CTP_EMPTY_JSON_BODY', 400), 400, 'invalid_json'],
    ['a broken upload', fastify('ECONNRESET', 400), 400, 'bad_request'],
    ['a Nest exception', new NotFoundException(), 404, 'route_not_found'],
    ['another one', new BadRequestException('x'), 400, 'bad_request'],
    ['a rare status', new HttpException('teapot', 418), 418, 'bad_request'],
    ['a server fault of Nest', new HttpException('x', 502), 500, 'internal_error'],
    ['a bug', new TypeError('x is not a function'), 500, 'internal_error'],
    ['no error at all', 'oops', 500, 'internal_error'],
    ['nothing', undefined, 500, 'internal_error'],
    ['a refused connection', withCode('connect', 'ECONNREFUSED'), 503, 'service_unavailable'],
    ['a reset', withCode('read', 'ECONNRESET'), 503, 'service_unavailable'],
    ['a shutdown of the database', withCode('terminating connection', '57P01'), 503, 'service_unavailable'],
    ['a starting database', withCode('starting up', '57P03'), 503, 'service_unavailable'],
    ['too many connections', withCode('sorry', '53300'), 503, 'service_unavailable'],
    ['a lost one', withCode('x', '08006'), 503, 'service_unavailable'],
    ['a slow statement', withCode('canceling statement', '57014'), 503, 'service_unavailable'],
    ['an exhausted pool', new Error('timeout exceeded when trying to connect'), 503, 'service_unavailable'],
    ['a cut connection', new Error('Connection terminated unexpectedly'), 503, 'service_unavailable'],

    ['one cut between two statements', new QueryRunnerAlreadyReleasedError(), 503, 'service_unavailable'],
    ['one cut in a transaction', new QueryRunnerProviderAlreadyReleasedError(), 503, 'service_unavailable'],
    ['a wrapped one', new QueryFailedError('select 1', [], withCode('x', '57P01')), 503, 'service_unavailable'],
    ['a cause', new Error('x', { cause: withCode('y', 'ECONNREFUSED') }), 503, 'service_unavailable'],
    ['a broken constraint', new QueryFailedError('insert', [], withCode('x', '23505')), 500, 'internal_error'],
  ])('%s gets its code', (_what, thrown, status, code) => {
    expect(toApiError(thrown)).toMatchObject({ status, code });
  });

  it('keeps the cause for the log, not for the response', () => {
    const cause = new Error('password hunter2');
    const error = toApiError(cause);
    expect(error.cause).toBe(cause);
    expect(JSON.stringify(toErrorBody(error, 'req_1'))).not.toMatch(/hunter2|stack|at /);
  });

  it('accepts a cause that is its own cause', () => {
    const error = new Error('x');
    error.cause = error;
    expect(toApiError(error).code).toBe('internal_error');
  });
});

describe('the filter', () => {
  const reply = () => {
    const sent = { raw: { headersSent: false, destroy: jest.fn() }, sent: false, status: 0, body: '' };
    const self = {
      ...sent,
      code: (status: number) => Object.assign(self, { status }),
      headers: () => self,
      removeHeader: () => self,
      type: () => self,
      send: (body: string) => Object.assign(self, { body }),
    };
    return self;
  };
  const host = (response: unknown, type = 'http') =>
    ({
      getType: () => type,
      switchToHttp: () => ({ getRequest: () => ({ id: 'req_7' }), getResponse: () => response }),
    }) as unknown as ArgumentsHost;
  const logged = () => jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

  it('logs an unexpected error once, with its cause and the request id', () => {
    const error = logged();
    const response = reply();
    const cause = new Error('boom');
    new ErrorFilter().catch(cause, host(response));
    expect([response.status, JSON.parse(response.body).error.request_id]).toEqual([500, 'req_7']);
    expect(error.mock.calls).toEqual([[expect.objectContaining({ request_id: 'req_7', err: cause })]]);
    error.mockRestore();
  });

  it('does not log errors of the client', () => {
    const error = logged();
    new ErrorFilter().catch(new ApiError('task_not_found'), host(reply()));
    expect(error).not.toHaveBeenCalled();
    error.mockRestore();
  });

  it('cuts the connection if half the response was sent', () => {
    const error = logged();
    const response = reply();
    response.raw.headersSent = true;
    new ErrorFilter().catch(new Error('boom'), host(response));
    expect([response.raw.destroy.mock.calls.length, response.status]).toEqual([1, 0]);
    error.mockRestore();
  });

  it('returns GraphQL errors to the formatter as ApiError', () => {
    expect(new ErrorFilter().catch(new ApiError('task_not_found'), host(null, 'graphql'))).toMatchObject({
      code: 'task_not_found',
    });
  });
});
