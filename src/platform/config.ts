import { resolve } from 'node:path';
import { EnvReader } from './env-reader.ts';

export type Role = 'all' | 'api' | 'worker';

/**
 * Everything the operator can set, read once from the environment and frozen. Nobody else touches `process.env`.
 * Names carry their unit; `.env.example` lists the variables with their defaults.
 */
export class Config {
  port: number;
  host: string;
  role: Role;
  production: boolean;
  /** null: the embedded PostgreSQL under `dataDir`. */
  databaseUrl: string | null;
  dataDir: string;
  /** Base of the links handed out, without a trailing slash. */
  publicUrl: string;
  bootstrapApiKey: string | null;
  /** 32 bytes in hex; null: made and kept in `dataDir`. */
  secretKey: string | null;
  /** null: files under `dataDir`; otherwise `s3://bucket?endpoint=…&region=…`. */
  storageUrl: string | null;
  /** null: LISTEN/NOTIFY of the database; otherwise `redis://…`. */
  eventsUrl: string | null;
  providersFile: string | null;
  credentials: Readonly<Record<ProviderVariable, string | null>>;
  /** The value of any variable that a binding names as its credential. */
  secretOf: (variable: string) => string | null;
  providerPollIntervalMs: number | null;
  workerConcurrency: number;
  taskLeaseS: number;
  taskHeartbeatS: number;
  taskSweepS: number;
  taskMaxAttempts: number;
  taskDeadlineImageS: number;
  taskDeadlineVideoS: number;
  webhookRetryScheduleS: readonly number[];
  webhookTimeoutMs: number;
  webhookDisableAfterHours: number;
  outboundAllowCidrs: readonly string[];
  outboundAllowHttp: boolean;
  /** Per key unless the key overrides it; 0 = no limit. So are the next three. */
  rateCreatePerMin: number;
  rateReadPerMin: number;
  maxRunningPerKey: number;
  maxQueuedPerKey: number;
  idempotencyTtlH: number;
  taskRetentionDays: number;
  fileRetentionDays: number;
  fileUrlTtlS: number;
  shutdownGraceS: number;
  apiKeyCacheTtlS: number;
  corsOrigins: readonly string[];
  graphqlIntrospection: boolean;
  logLevel: string;
  otelEndpoint: string | null;
}

/** Credentials and addresses of the upstream providers; unset ones leave their models to the next provider in line. */
export const PROVIDER_VARIABLES = [
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'GEMINI_API_KEY',
  'GEMINI_BASE_URL',
  'ARK_API_KEY',
  'ARK_BASE_URL',
  'FAL_KEY',
  'FAL_BASE_URL',
  'REPLICATE_API_TOKEN',
  'REPLICATE_BASE_URL',
  'COMFYUI_URL',
] as const;
export type ProviderVariable = (typeof PROVIDER_VARIABLES)[number];

const YEAR_S = 365 * 24 * 3600;

/**
 * Reads the configuration.
 * @throws ConfigError naming every bad variable at once; values of secret variables are never repeated
 */
export function loadConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const read = new EnvReader(env);
  const production = env.NODE_ENV === 'production';
  const host = read.text('HOST', '127.0.0.1');
  const port = read.integer('PORT', 3000, 0, 65535);
  const databaseUrl = read.url('DATABASE_URL', ['postgres:', 'postgresql:']);

  const config: Config = {
    host,
    port,
    role: read.oneOf('ROLE', ['all', 'api', 'worker'], 'all'),
    production,
    databaseUrl,
    dataDir: resolve(read.text('DATA_DIR', './.darkroom')),
    publicUrl: (read.url('PUBLIC_URL', ['http:', 'https:']) ?? `http://${host}:${port}`).replace(/\/+$/, ''),
    bootstrapApiKey: read.secret('BOOTSTRAP_API_KEY', /^dr_[0-9A-Za-z]{46}$/, 'dr_ and 46 base62 characters'),
    secretKey: read.secret('SECRET_KEY', /^[0-9a-f]{64}$/i, '32 bytes in hex (64 characters)'),
    storageUrl: read.url('STORAGE_URL', ['s3:']),
    eventsUrl: read.url('EVENTS_URL', ['redis:', 'rediss:']),
    providersFile: read.optional('PROVIDERS'),
    credentials: Object.fromEntries(
      PROVIDER_VARIABLES.map((name) => [
        name,
        name.endsWith('_URL') ? read.url(name, ['http:', 'https:']) : read.optional(name),
      ]),
    ) as Record<ProviderVariable, string | null>,
    secretOf: (variable) => read.optional(variable),
    providerPollIntervalMs: read.optional('PROVIDER_POLL_INTERVAL_MS')
      ? read.integer('PROVIDER_POLL_INTERVAL_MS', 5000, 10, 600_000)
      : null,
    workerConcurrency: read.integer('WORKER_CONCURRENCY', 50, 1, 10_000),
    taskLeaseS: read.number('TASK_LEASE_S', 30, 0.5, 3600),
    taskHeartbeatS: read.number('TASK_HEARTBEAT_S', 10, 0.1, 3600),
    taskSweepS: read.number('TASK_SWEEP_S', 5, 0.1, 3600),
    taskMaxAttempts: read.integer('TASK_MAX_ATTEMPTS', 3, 1, 100),
    taskDeadlineImageS: read.number('TASK_DEADLINE_IMAGE_S', 600, 1, YEAR_S),
    taskDeadlineVideoS: read.number('TASK_DEADLINE_VIDEO_S', 3600, 1, YEAR_S),
    webhookRetryScheduleS: read.numbers('WEBHOOK_RETRY_SCHEDULE', [5, 30, 120, 600, 3600, 21600, 86400], 0, YEAR_S),
    webhookTimeoutMs: read.integer('WEBHOOK_TIMEOUT_MS', 15_000, 100, 120_000),
    webhookDisableAfterHours: read.number('WEBHOOK_DISABLE_AFTER_HOURS', 120, 0, 24 * 365),
    outboundAllowCidrs: read.cidrs('OUTBOUND_ALLOW_CIDRS'),
    outboundAllowHttp: read.flag('OUTBOUND_ALLOW_HTTP', false),
    rateCreatePerMin: read.integer('RATE_CREATE_PER_MIN', 600, 0, 1e9),
    rateReadPerMin: read.integer('RATE_READ_PER_MIN', 6000, 0, 1e9),
    maxRunningPerKey: read.integer('MAX_RUNNING_PER_KEY', 50, 0, 1e6),
    maxQueuedPerKey: read.integer('MAX_QUEUED_PER_KEY', 5000, 0, 1e9),
    idempotencyTtlH: read.number('IDEMPOTENCY_TTL_H', 24, 0.001, 24 * 365),
    taskRetentionDays: read.number('TASK_RETENTION_DAYS', 30, 0.00001, 36_500),
    fileRetentionDays: read.number('FILE_RETENTION_DAYS', 7, 0.00001, 36_500),
    fileUrlTtlS: read.integer('FILE_URL_TTL_S', 3600, 1, YEAR_S),
    shutdownGraceS: read.number('SHUTDOWN_GRACE_S', 25, 0, 3600),
    apiKeyCacheTtlS: read.number('API_KEY_CACHE_TTL_S', 5, 0, 5),
    corsOrigins: read.list('CORS_ORIGINS'),
    graphqlIntrospection: read.flag('GRAPHQL_INTROSPECTION', !production),
    logLevel: read.oneOf('LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    otelEndpoint: read.url('OTEL_EXPORTER_OTLP_ENDPOINT', ['http:', 'https:']),
  };

  read.check(
    config.taskHeartbeatS * 2 <= config.taskLeaseS,
    'TASK_HEARTBEAT_S',
    'must be at most half of TASK_LEASE_S',
  );
  read.check(
    config.fileRetentionDays <= config.taskRetentionDays,
    'FILE_RETENTION_DAYS',
    'must not be longer than TASK_RETENTION_DAYS',
  );
  read.check(!databaseUrl || config.secretKey !== null, 'SECRET_KEY', 'is required when DATABASE_URL is set');
  read.done();
  return Object.freeze(config);
}
