import { Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Metrics } from '../platform/metrics.ts';
import { HealthController } from './health.controller.ts';

/** Liveness, readiness and metrics for every role of the process. `Readiness` and `Metrics` come from the platform. */
@Module({ controllers: [HealthController] })
export class HealthModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    this.metrics.measureRequests(this.host.httpAdapter.getInstance());
  }
}
