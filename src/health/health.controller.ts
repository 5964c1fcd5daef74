import { Controller, Get, Header, Query, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse, ApiOperation, ApiQuery, ApiServiceUnavailableResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Registry } from 'prom-client';
import { Public } from '../auth/access/access.ts';
import { ApiError } from '../errors/api-error.ts';
import { errorHeaders, toErrorBody } from '../errors/error.filter.ts';
import { ANSWERED_WHILE_DRAINING } from '../platform/http/edge.ts';
import { HEALTH_PATHS } from '../platform/http/request.ts';
import { IgnoresUnknownQuery } from '../platform/http/query-parameters.guard.ts';
import { Metrics } from '../platform/observe/measuring/metrics.ts';
import { Readiness } from '../platform/run/readiness.ts';
import { Fails } from '../platform/openapi/faults.ts';

const CHECKS = {
  type: 'object',
  additionalProperties: { type: 'string' },
  description: 'ok, or what is wrong',
} as const;
const json = (schema: object) => ({ 'application/json': { schema } });
const STATUS = { type: 'string', const: 'ok' } as const;
const LIVE = json({ type: 'object', required: ['status'], properties: { status: STATUS } });
const READY = json({
  type: 'object',
  required: ['status', 'checks'],
  properties: { status: STATUS, checks: CHECKS },
});
/** This answer has the fields of every API error too, so that clients of the API can read it. */
const NOT_READY = json({
  allOf: [
    { $ref: '#/components/schemas/ErrorResponse' },
    {
      type: 'object',
      required: ['status', 'checks'],
      properties: { status: { type: 'string', const: 'unavailable' }, checks: CHECKS },
    },
  ],
});

/**
 * For load balancers, orchestrators and Prometheus: these routes need no API key and have no rate limit. Probes may add
 * query parameters of their own, for example to get past a cache.
 */
@ApiTags('Health')
@Controller()
@Public()
@IgnoresUnknownQuery()
export class HealthController {
  constructor(
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  @Get(HEALTH_PATHS.liveness)
  @RouteConfig(ANSWERED_WHILE_DRAINING)
  @ApiOperation({ summary: 'Check that the process is running', operationId: 'getHealth', security: [] })
  @ApiOkResponse({ description: 'The process is running.', content: LIVE })
  live(): object {
    return { status: 'ok' };
  }

  @Get(HEALTH_PATHS.readiness)
  @Fails('invalid_value')
  @ApiOperation({
    summary: 'Check that the database, the task queue and the file storage respond',
    operationId: 'getReadiness',
    security: [],
  })
  @ApiQuery({
    name: 'of',
    required: false,
    description: '`process` checks this process alone: it has started, it is not draining, and it responds in time.',
    schema: { type: 'string', enum: ['process'] },
  })
  @ApiOkResponse({ description: 'The process is ready: all checks passed.', content: READY })
  @ApiServiceUnavailableResponse({
    description: 'The process is not ready; `checks` names the checks that failed.',
    content: NOT_READY,
  })
  async ready(
    @Query('of') of: unknown,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<object> {
    if (of !== undefined && of !== 'process') {
      throw new ApiError('invalid_value', { param: 'of', message: 'of must be process, or left out.' });
    }
    const { ready, checks } = of === 'process' ? this.readiness.ofProcess() : await this.readiness.report();
    if (ready) return { status: 'ok', checks };
    const failed = Object.keys(checks).filter((name) => checks[name] !== 'ok');
    const message =
      checks.process === 'draining' ? 'The service is shutting down.' : `Not ready: ${failed.join(', ')}.`;
    const error = new ApiError('service_unavailable', { message });
    void reply.code(error.status).headers(errorHeaders(error));
    return { status: 'unavailable', checks, ...toErrorBody(error, request.id) };
  }

  @Get(HEALTH_PATHS.metrics)
  @RouteConfig(ANSWERED_WHILE_DRAINING)
  @Header('content-type', Registry.PROMETHEUS_CONTENT_TYPE)
  @ApiOperation({ summary: 'Read the metrics of the process for Prometheus', operationId: 'getMetrics', security: [] })
  @ApiOkResponse({
    description: 'All metrics, in the text format of Prometheus.',
    content: { 'text/plain': { schema: { type: 'string' } } },
  })
  read(): Promise<string> {
    return this.metrics.registry.metrics();
  }
}
