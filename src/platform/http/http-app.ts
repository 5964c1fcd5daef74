import type { FastifyRequest } from 'fastify';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { ErrorFilter } from '../../errors/error.filter.ts';
import type { Config } from '../config/config.ts';
import { createLogger, logLevels, NestLogger } from '../observe/logging/logging.ts';
import { PROCESS_ID } from '../config/process-id.ts';
import { VERSION } from '../config/version.ts';
import { logRequests, traceRequests, warnOfUntrustedProxy } from './observe-requests.ts';
import { createEdge, type Edge } from './edge.ts';
import { HTTP_LIMITS, type HttpLimits } from './limits.ts';
import { QueryParametersGuard } from './query-parameters.guard.ts';
import { InputPipe } from './input.pipe.ts';

/**
 * Nest's adapter for our server. The server starts to drain when Nest starts to shut down, and closes when its clients
 * have left.
 */
export class EdgeAdapter extends FastifyAdapter {
  constructor(readonly edge: Edge) {
    super(edge.fastify);
  }

  override beforeClose(): void {
    this.edge.startDraining();
    super.beforeClose();
  }

  override async close(): Promise<void> {
    await this.edge.connections.left();
    await super.close();
  }
}

interface HttpAppOptions {
  /** Reads the modules but creates no providers: enough to describe the API, without a database. */
  preview?: boolean;
  /** Tests shorten the timeouts. */
  limits?: Partial<HttpLimits>;
}

type EdgeConfig = Pick<Config, 'corsOrigins'> &
  Partial<
    Pick<
      Config,
      'mcpAllowedOrigins' | 'logLevel' | 'logLevels' | 'logRequests' | 'role' | 'otelServiceName' | 'trustedProxies'
    >
  >;

/**
 * Creates the Nest application on the HTTP edge. The caller still calls `init()` or `listen()`.
 * @param module the root module
 */
export async function createHttpApp(
  module: Parameters<typeof NestFactory.create>[0],
  config: EdgeConfig,
  options: HttpAppOptions = {},
): Promise<NestFastifyApplication> {
  const log = openLog(config);
  const edge = createEdge({ ...HTTP_LIMITS, ...options.limits }, config.trustedProxies);
  traceRequests(edge.fastify);
  edge.fastify.addHook('onClose', async () => log.flush());
  warnOfUntrustedProxy(edge.fastify, config.trustedProxies ?? []);
  logRequests(edge.fastify, log, config.logRequests ?? 'all');
  const app = await NestFactory.create<NestFastifyApplication>(module, new EdgeAdapter(edge), {
    abortOnError: false, // throw instead of ending the process: main.ts reports the reason
    bodyParser: false,
    preview: options.preview,
    logger: log,
  });
  app.useGlobalFilters(new ErrorFilter());
  app.useGlobalPipes(new InputPipe());
  app.useGlobalGuards(new QueryParametersGuard()); // after the guards of the modules, such as authentication
  const { corsOrigins, mcpAllowedOrigins = [] } = config;
  if (corsOrigins.length + mcpAllowedOrigins.length > 0) app.enableCors(corsOf(corsOrigins, mcpAllowedOrigins));
  return app;
}

function openLog({
  logLevel = 'info',
  logLevels: byContext = {},
  role = 'all',
  otelServiceName,
}: EdgeConfig): NestLogger {
  logLevels.change({ logLevel, logLevels: byContext });
  const service = otelServiceName ?? 'darkroom';
  return new NestLogger(createLogger({ service, version: VERSION, role, process: PROCESS_ID }), logLevels);
}

type CorsAnswer = (error: null, options: object) => void;

/** Pages of `onlyMcp` may call the MCP server only. */
function corsOf(everywhere: readonly string[], onlyMcp: readonly string[]) {
  const general = corsOptions(everywhere);
  const mcp = corsOptions([...everywhere, ...onlyMcp]);
  const delegator = ({ url }: FastifyRequest, answer: CorsAnswer) =>
    answer(null, /^\/mcp(?:\?|$)/.test(url) ? mcp : general);
  return { delegator };
}

function corsOptions(origins: readonly string[]) {
  return {
    origin: origins.includes('*') ? '*' : [...origins],
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600, // seconds; the longest that all browsers accept
  };
}

/** Browsers show scripts only a few response headers, and those that are listed here. */
const EXPOSED_HEADERS = [
  'x-request-id',
  'location',
  'retry-after',
  'etag',
  'idempotent-replayed',
  'cancel-outcome',
  'ratelimit',
  'ratelimit-policy',
  'task-id',
  'x-should-retry',
  'openai-poll-after-ms',
];
