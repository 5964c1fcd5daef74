import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ErrorFilter } from '../../errors/error.filter.ts';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { createLogger, NestLogger } from '../logging/logging.ts';
import { logRequests } from './access-log.ts';
import { createEdge, type Edge } from './edge.ts';
import { HTTP_LIMITS, type HttpLimits } from './limits.ts';
import type { Upgrades } from './upgrades.ts';
import { ValidationPipe } from '../schema/validation.pipe.ts';

/** Nest's adapter on our server; it says when Nest starts to shut down. */
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
  /** The process's own, when there is one already. */
  logger?: Logger;
  /** Reads the modules without making their providers: enough to describe the API, and no database is touched. */
  preview?: boolean;
  /** Shorter times, for tests. */
  limits?: Partial<HttpLimits>;
}

/**
 * Builds the Nest application with our HTTP manners; the caller still has to `init()` or `listen()` it.
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
    abortOnError: false, // Nest would end the process; whoever starts it says why it did not
    bodyParser: false,
    preview: options.preview,
    logger: new NestLogger(logger),
  });
  app.useGlobalFilters(new ErrorFilter());
  app.useGlobalPipes(new ValidationPipe());
  if (config.corsOrigins.length > 0) app.enableCors(corsOptions(config.corsOrigins));
  return app;
}

/** Where the WebSocket servers of upper modules claim their paths. */
export function upgradesOf(app: NestFastifyApplication): Upgrades {
  return (app.getHttpAdapter() as EdgeAdapter).edge.upgrades;
}

/** Lets new requests fail with 503 while those under way end; `close()` does it by itself. */
export function startDraining(app: NestFastifyApplication): void {
  (app.getHttpAdapter() as EdgeAdapter).edge.startDraining();
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600, // seconds; the longest that all browsers honour
  };
}

/** What a browser client needs beyond the few headers that it may always read. */
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
