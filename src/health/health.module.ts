import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Metrics } from '../platform/observe/measuring/metrics.ts';
import type { EdgeAdapter } from '../platform/http/http-app.ts';
import { measureRequests, registerLoadMetrics } from '../platform/http/observe-requests.ts';
import { HealthController } from './health.controller.ts';

/** Liveness, readiness and metrics for every role of the process. `Readiness` and `Metrics` come from the platform. */
@Module({ controllers: [HealthController] })
export class HealthModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost<EdgeAdapter>,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const { edge } = this.host.httpAdapter;
    measureRequests(edge.fastify);
    registerLoadMetrics(this.metrics, edge);
  }
}
