import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ErrorFilter } from '../../errors/error.filter.ts';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { createLogger, NestLogger } from '../logging/logging.ts';
import { logRequests } from './access-log.ts';
import { createEdge, type Edge } from './edge.ts';
import { HTTP_LIMITS, type HttpLimits } from './limits.ts';
import { ValidationPipe } from '../schema/validation.pipe.ts';

/** Nest's adapter for our server. It starts to drain when Nest starts to shut down. */
export class EdgeAdapter extends FastifyAdapter {
  constructor(readonly edge: Edge) {
    super(edge.fastify);
  }

  override beforeClose(): void {
    this.edge.startDraining();
    super.beforeClose();
  }
}

interface HttpAppOptions {
  /** The logger of the process, if it already has one. */
  logger?: Logger;
  /** Reads the modules but creates no providers: enough to describe the API, without a database. */
  preview?: boolean;
  /** Tests shorten the timeouts. */
  limits?: Partial<HttpLimits>;
}

/**
 * Creates the Nest application on the HTTP edge. The caller still calls `init()` or `listen()`.
 * @param module the root module
 */
export async function createHttpApp(
  module: Parameters<typeof NestFactory.create>[0],
  config: Pick<Config, 'corsOrigins'> & Partial<Pick<Config, 'logLevel'>>,
  options: HttpAppOptions = {},
): Promise<NestFastifyApplication> {
  const logger = options.logger ?? createLogger(config.logLevel ?? 'info');
  const edge = createEdge({ ...HTTP_LIMITS, ...options.limits });
  logRequests(edge.fastify, logger);
  const app = await NestFactory.create<NestFastifyApplication>(module, new EdgeAdapter(edge), {
    abortOnError: false, // throw instead of ending the process: main.ts reports the reason
    bodyParser: false,
    preview: options.preview,
    logger: new NestLogger(logger),
  });
  app.useGlobalFilters(new ErrorFilter());
  app.useGlobalPipes(new ValidationPipe());
  if (config.corsOrigins.length > 0) app.enableCors(corsOptions(config.corsOrigins));
  return app;
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600, // seconds; the longest that all browsers accept
  };
}

/** Browsers hide all response headers but a few from scripts, unless they are listed here. */
const EXPOSED_HEADERS = [
  'x-request-id',
  'location',
  'retry-after',
  'etag',
  'idempotent-replayed',
  'cancel-outcome',
  'ratelimit',
  'ratelimit-policy',
];
