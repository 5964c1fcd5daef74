import type { z } from 'zod';
import {
  cidrs,
  decimal,
  decimals,
  flag,
  integer,
  list,
  oneOf,
  optionalFlag,
  optionalInteger,
  optionalText,
  secret,
  text,
  url,
} from './setting-types.ts';
import { YEAR_S } from './time.ts';

type Section =
  'server' | 'storage' | 'providers' | 'worker' | 'webhooks' | 'outbound' | 'limits' | 'retention' | 'operation';

/** One environment variable: `schema` holds its default, its bounds and, for people, what it means. */
export interface Setting<Schema extends z.ZodType = z.ZodType> {
  variable: string;
  section: Section;
  schema: Schema;
}

function setting<Schema extends z.ZodType>(variable: string, section: Section, schema: Schema, meaning: string) {
  return { variable, section, schema: schema.describe(meaning) } satisfies Setting<Schema>;
}

/** Every setting by its property of `Config`. `.env.example` lists the same variables and defaults; a test compares. */
export const SETTINGS = {
  port: setting('PORT', 'server', integer(3000, 0, 65_535), 'Port to listen on; 0 picks a free one.'),
  host: setting('HOST', 'server', text('127.0.0.1'), 'Address to listen on.'),
  publicUrl: setting('PUBLIC_URL', 'server', url('http', 'https'), 'Base of all links; http://HOST:PORT when unset.'),
  role: setting('ROLE', 'server', oneOf(['all', 'api', 'worker'], 'all'), 'What this process runs.'),
  corsOrigins: setting('CORS_ORIGINS', 'server', list(), 'Origins that browsers may call from; none when unset.'),
  graphqlIntrospection: setting('GRAPHQL_INTROSPECTION', 'server', optionalFlag(), 'On unless NODE_ENV is production.'),

  databaseUrl: setting(
    'DATABASE_URL',
    'storage',
    url('postgres', 'postgresql'),
    'PostgreSQL 14 or newer; unset: an embedded one under DATA_DIR.',
  ),
  dataDir: setting('DATA_DIR', 'storage', text('./.darkroom'), 'Folder of the embedded database, files and secrets.'),
  secretKey: setting(
    'SECRET_KEY',
    'storage',
    secret(/^[0-9a-f]{64}$/i, '32 bytes in hex (64 characters)'),
    'All secrets of the service derive from it; unset: generated and kept in DATA_DIR. Required with DATABASE_URL.',
  ),
  bootstrapApiKey: setting(
    'BOOTSTRAP_API_KEY',
    'storage',
    secret(/^dr_[0-9A-Za-z]{46}$/, 'dr_ and 46 base62 characters'),
    'The first API key, with all scopes; unset: generated.',
  ),
  storageUrl: setting(
    'STORAGE_URL',
    'storage',
    url('s3'),
    'Results: s3://bucket?endpoint=…&region=…; unset: files under DATA_DIR.',
  ),
  eventsUrl: setting(
    'EVENTS_URL',
    'storage',
    url('redis', 'rediss'),
    'Live events between processes: Redis; unset: LISTEN/NOTIFY of the database.',
  ),

  providersFile: setting('PROVIDERS', 'providers', optionalText(), 'YAML file: which provider serves which model.'),
  providerPollIntervalMs: setting(
    'PROVIDER_POLL_INTERVAL_MS',
    'providers',
    optionalInteger(10, 600_000),
    'Milliseconds between polls of an upstream job; unset: each provider has its own.',
  ),

  workerConcurrency: setting('WORKER_CONCURRENCY', 'worker', integer(50, 1, 10_000), 'Running tasks per process.'),
  taskLeaseS: setting('TASK_LEASE_S', 'worker', decimal(30, 0.5, 3600), 'Seconds until a lease expires.'),
  taskHeartbeatS: setting('TASK_HEARTBEAT_S', 'worker', decimal(10, 0.1, 3600), 'Seconds between lease renewals.'),
  taskSweepS: setting('TASK_SWEEP_S', 'worker', decimal(5, 0.1, 3600), 'Seconds between sweeps for expired leases.'),
  taskMaxAttempts: setting('TASK_MAX_ATTEMPTS', 'worker', integer(3, 1, 100), 'Attempts, then the task fails.'),
  taskDeadlineImageS: setting('TASK_DEADLINE_IMAGE_S', 'worker', decimal(600, 1, YEAR_S), 'Seconds; then it fails.'),
  taskDeadlineVideoS: setting('TASK_DEADLINE_VIDEO_S', 'worker', decimal(3600, 1, YEAR_S), 'Seconds; then it fails.'),

  webhookRetryScheduleS: setting(
    'WEBHOOK_RETRY_SCHEDULE',
    'webhooks',
    decimals([5, 30, 120, 600, 3600, 21600, 86400], 0, YEAR_S),
    'Seconds between the attempts to deliver an event.',
  ),
  webhookTimeoutMs: setting('WEBHOOK_TIMEOUT_MS', 'webhooks', integer(15_000, 100, 120_000), 'Of one attempt.'),
  webhookDisableAfterHours: setting(
    'WEBHOOK_DISABLE_AFTER_HOURS',
    'webhooks',
    decimal(120, 0, 24 * 365),
    'Hours without a success until the service disables an endpoint.',
  ),

  outboundAllowCidrs: setting('OUTBOUND_ALLOW_CIDRS', 'outbound', cidrs(), 'Private ranges that calls may reach.'),
  outboundAllowHttp: setting('OUTBOUND_ALLOW_HTTP', 'outbound', flag(false), 'Whether calls may use plain http.'),

  rateCreatePerMin: setting('RATE_CREATE_PER_MIN', 'limits', integer(600, 0, 1e9), 'Per API key; 0: no limit.'),
  rateReadPerMin: setting('RATE_READ_PER_MIN', 'limits', integer(6000, 0, 1e9), 'Per API key; 0: no limit.'),
  maxRunningPerKey: setting('MAX_RUNNING_PER_KEY', 'limits', integer(50, 0, 1e6), 'Per API key; 0: no limit.'),
  maxQueuedPerKey: setting('MAX_QUEUED_PER_KEY', 'limits', integer(5000, 0, 1e9), 'Per API key; 0: no limit.'),

  idempotencyTtlH: setting('IDEMPOTENCY_TTL_H', 'retention', decimal(24, 0.001, 24 * 365), 'Hours.'),
  taskRetentionDays: setting('TASK_RETENTION_DAYS', 'retention', decimal(30, 0.00001, 36_500), 'Days.'),
  fileRetentionDays: setting('FILE_RETENTION_DAYS', 'retention', decimal(7, 0.00001, 36_500), 'Days.'),
  fileUrlTtlS: setting('FILE_URL_TTL_S', 'retention', integer(3600, 1, YEAR_S), 'Seconds a signed link works.'),

  shutdownDelayS: setting(
    'SHUTDOWN_DELAY_S',
    'operation',
    decimal(0, 0, 3600),
    'Seconds to go on serving, with /readyz at 503, before anything stops.',
  ),
  shutdownGraceS: setting('SHUTDOWN_GRACE_S', 'operation', decimal(25, 0, 3600), 'Seconds for running work to end.'),
  apiKeyCacheTtlS: setting('API_KEY_CACHE_TTL_S', 'operation', decimal(5, 0, 5), 'Seconds a key may stay cached.'),
  logLevel: setting(
    'LOG_LEVEL',
    'operation',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'info'),
    'The least severe level that is logged.',
  ),
};

/** The provider's credentials and addresses: all of them are in `Config.credentials`. */
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

type ProviderSetting = Setting<z.ZodType<string | null>>;

export const PROVIDER_SETTINGS = Object.fromEntries(
  PROVIDER_VARIABLES.map((variable): [ProviderVariable, ProviderSetting] => [
    variable,
    variable.endsWith('_URL')
      ? setting(variable, 'providers', url('http', 'https'), 'Address of the API; unset: the default of the provider.')
      : setting(
          variable,
          'providers',
          optionalText(),
          'Credential; unset: the next provider in line serves its models.',
        ),
  ]),
) as Record<ProviderVariable, ProviderSetting>;
