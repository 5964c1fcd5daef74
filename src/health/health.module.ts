import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { serveHealth } from './health.controller.ts';
import { Metrics } from '../platform/metrics.ts';
import { Readiness } from '../platform/readiness.ts';

/** Health, readiness and metrics, for every role of the process; none of them asks for a key. */
@Global()
@Module({ providers: [Readiness, Metrics], exports: [Readiness, Metrics] })
export class HealthModule implements OnModuleInit {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  onModuleInit(): void {
    const fastify = this.host.httpAdapter.getInstance<FastifyInstance>();
    this.metrics.measureRequests(fastify);
    serveHealth(fastify, this.readiness, this.metrics);
  }
}
