import { DATABASE_SETTINGS } from './database-settings.ts';
import { readRedisAddress } from './redis-address.ts';
import { setting } from './setting.ts';
import {
  address,
  cidrs,
  decimal,
  decimals,
  flag,
  folder,
  host,
  integer,
  oneOf,
  optionalFlag,
  optionalInteger,
  optionalText,
  origin,
  origins,
  pairs,
  secret,
  shaped,
  url,
} from './setting-types.ts';
import { LOG_LEVELS } from './log-levels.ts';
import { MCP_SETTINGS } from './mcp-settings.ts';
import { OBSERVATION_SETTINGS } from './observation-settings.ts';
import { RETENTION_SETTINGS } from './retention-settings.ts';
import { readKeys } from './secrets.ts';
import { YEAR_S } from '../schema/time.ts';

/**
 * Ids that OpenAI has switched off, and dated ids. Each is paired with the model of this service that serves it.
 * Clients still offer these ids to their users, or have them in their code.
 */
export const OPENAI_ALIASES = [
  ...['gpt-image-2-2026-04-21', 'gpt-image-1', 'dall-e-3', 'dall-e-2'].map((id) => `${id}=gpt-image-2`),
  ...['sora-2-pro', 'sora-2-2025-10-06', 'sora-2-2025-12-08', 'sora-2-pro-2025-10-06'].map((id) => `${id}=sora-2`),
].join(',');

/**
 * Every setting, except those of the providers, by the name of its property in `Config`. A test checks that
 * `.env.example` has the same variables and defaults.
 */
export const SETTINGS = {
  port: setting(
    'PORT',
    'server',
    integer(3000, 0, 65_535),
    'Port to listen on; 0 picks a free one and needs PUBLIC_URL.',
  ),
  opsPort: setting(
    'OPS_PORT',
    'server',
    optionalInteger(1, 65_535),
    'Port of /metrics, /healthz and /readyz, which PORT then does not answer; unset: PORT.',
  ),
  host: setting('HOST', 'server', host('127.0.0.1'), 'Address to listen on.'),
  publicUrl: setting(
    'PUBLIC_URL',
    'server',
    origin(),
    'Base of all links, without a path; http://HOST:PORT when unset.',
  ),
  cell: setting(
    'CELL',
    'server',
    shaped(/^[0-9A-Za-z]{2}$/, 'two characters of 0-9, A-Z and a-z'),
    'Two characters that new API keys begin with behind dr_, so that a router finds this deployment; none when unset.',
  ),
  role: setting('ROLE', 'server', oneOf(['all', 'api', 'worker'], 'all'), 'What this process runs.'),
  corsOrigins: setting('CORS_ORIGINS', 'server', origins(), 'Origins that browsers may call from; none when unset.'),
  trustedProxies: setting(
    'TRUSTED_PROXIES',
    'server',
    cidrs(),
    'CIDR ranges of proxies whose X-Forwarded-For names the client; none when unset.',
  ),
  dashboard: setting('DASHBOARD', 'server', flag(true), 'Whether the browser app is served at /app/.'),
  graphqlIntrospection: setting('GRAPHQL_INTROSPECTION', 'server', optionalFlag(), 'On unless NODE_ENV is production.'),

  ...DATABASE_SETTINGS,
  dataDir: setting('DATA_DIR', 'storage', folder('./.darkroom'), 'Folder of the embedded database, files and secrets.'),
  secretKey: setting(
    'SECRET_KEY',
    'storage',
    address(readKeys),
    'All secrets of the service derive from it; several keys, newest first, separated by commas, while one replaces another. Unset: generated and kept in DATA_DIR. Required with DATABASE_URL.',
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
  fileDelivery: setting(
    'FILE_DELIVERY',
    'storage',
    oneOf(['proxy', 'redirect'], 'proxy'),
    'Whether file links answer with the bytes, or with a redirect to the bucket. redirect requires STORAGE_URL.',
  ),
  eventsUrl: setting(
    'EVENTS_URL',
    'storage',
    address(readRedisAddress),
    'Live events between processes: Redis, also with Sentinel or Cluster; unset: LISTEN/NOTIFY of the database.',
  ),

  providersFile: setting('PROVIDERS', 'providers', optionalText(), 'YAML file: which provider serves which model.'),
  models: setting(
    'MODELS',
    'providers',
    optionalText(),
    'Folder of YAML files that declare models; unset: the folder models in DATA_DIR, if it is there.',
  ),
  modelsWatchS: setting(
    'MODELS_WATCH_S',
    'providers',
    decimal(5, 0, 3600),
    'Seconds between looks for changes in that folder; 0: only at a SIGHUP.',
  ),
  modelsSandbox: setting(
    'MODELS_SANDBOX',
    'providers',
    flag(false),
    'Whether the sandbox serves every declared model, and nothing is called.',
  ),
  providerPollIntervalMs: setting(
    'PROVIDER_POLL_INTERVAL_MS',
    'providers',
    optionalInteger(10, 600_000),
    'Milliseconds between polls of an upstream job; unset: each provider has its own.',
  ),
  geminiStore: setting(
    'GEMINI_STORE',
    'providers',
    flag(false),
    'Whether Gemini may keep requests and answers for the project of the key.',
  ),

  revealProviders: setting(
    'REVEAL_PROVIDERS',
    'providers',
    flag(true),
    'Whether clients see which provider served them.',
  ),

  scratchMaxBytes: setting(
    'SCRATCH_MAX_BYTES',
    'worker',
    integer(4_000_000_000, 320_000_000, Number.MAX_SAFE_INTEGER),
    'Bytes of reference images in the temporary folder, per process; tasks wait for room.',
  ),
  workerConcurrency: setting('WORKER_CONCURRENCY', 'worker', integer(50, 1, 10_000), 'Running tasks per process.'),
  workerPolledRuns: setting(
    'WORKER_POLLED_RUNS',
    'worker',
    integer(500, 0, 10_000),
    'Tasks per process, beside WORKER_CONCURRENCY, that only wait for a job of their provider.',
  ),
  taskLeaseS: setting('TASK_LEASE_S', 'worker', decimal(30, 0.5, 3600), 'Seconds until a lease expires.'),
  taskHeartbeatS: setting('TASK_HEARTBEAT_S', 'worker', decimal(10, 0.1, 3600), 'Seconds between lease renewals.'),
  taskSweepS: setting('TASK_SWEEP_S', 'worker', decimal(5, 0.1, 3600), 'Seconds between sweeps for expired leases.'),
  taskMaxAttempts: setting('TASK_MAX_ATTEMPTS', 'worker', integer(3, 1, 100), 'Attempts, then the task fails.'),
  taskDeadlineImageS: setting('TASK_DEADLINE_IMAGE_S', 'worker', decimal(600, 1, YEAR_S), 'Seconds; then it fails.'),
  taskDeadlineVideoS: setting('TASK_DEADLINE_VIDEO_S', 'worker', decimal(3600, 1, YEAR_S), 'Seconds; then it fails.'),
  lowDeadlineS: setting(
    'LOW_DEADLINE_S',
    'worker',
    decimal(86_400, 1, YEAR_S),
    'Seconds that a task of low priority may wait; then it fails.',
  ),
  lowPriorityShare: setting(
    'LOW_PRIORITY_SHARE',
    'worker',
    integer(10, 0, 50),
    'Percent of the starts for tasks of low priority, while normal ones wait.',
  ),

  provenance: setting(
    'PROVENANCE',
    'provenance',
    oneOf(['off', 'metadata', 'c2pa'], 'metadata'),
    'How outputs say that a model made them: not at all, in XMP, or also in a signed C2PA manifest.',
  ),
  c2paCert: setting('C2PA_CERT', 'provenance', optionalText(), 'PEM file: the certificate that signs, then its chain.'),
  c2paKey: setting('C2PA_KEY', 'provenance', optionalText(), 'PEM file: the private key of that certificate.'),

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
  webhookKeepExcepted: setting(
    'WEBHOOK_KEEP_EXCEPTED_RESPONSES',
    'webhooks',
    flag(false),
    'Whether the log keeps what an address answers that only OUTBOUND_ALLOW_CIDRS allows.',
  ),

  syncWaitS: setting(
    'SYNC_WAIT_S',
    'server',
    decimal(590, 0.1, 86_400),
    'Seconds that an OpenAI-compatible call waits for its result.',
  ),
  openaiModelAliases: {
    ...setting(
      'OPENAI_MODEL_ALIASES',
      'server',
      pairs(OPENAI_ALIASES),
      'Model ids that OpenAI-compatible routes take for one of ours.',
    ),
    keepsEmpty: true,
  },
  ...MCP_SETTINGS,

  outboundAllowCidrs: setting('OUTBOUND_ALLOW_CIDRS', 'outbound', cidrs(), 'Private ranges that calls may reach.'),
  outboundAllowHttp: setting('OUTBOUND_ALLOW_HTTP', 'outbound', flag(false), 'Whether calls may use plain http.'),

  rateCreatePerMin: setting('RATE_CREATE_PER_MIN', 'limits', integer(600, 0, 1e9), 'Per API key; 0: no limit.'),
  rateReadPerMin: setting('RATE_READ_PER_MIN', 'limits', integer(6000, 0, 1e9), 'Per API key; 0: no limit.'),
  rateKeylessPerMin: setting(
    'RATE_KEYLESS_PER_MIN',
    'limits',
    integer(120, 0, 1e9),
    'GraphQL requests, pages of shares and zips of an address without a valid key, per process; 0: no limit.',
  ),
  maxRunningPerKey: setting('MAX_RUNNING_PER_KEY', 'limits', integer(50, 0, 1e6), 'Per API key; 0: no limit.'),
  maxQueuedPerKey: setting('MAX_QUEUED_PER_KEY', 'limits', integer(5000, 0, 1e9), 'Per API key; 0: no limit.'),
  maxFileBytesPerKey: setting(
    'MAX_FILE_BYTES_PER_KEY',
    'limits',
    integer(5_368_709_120, 0, 1e15),
    'Bytes of the uploads of an API key; 0: no limit.',
  ),
  maxRequestFileBytesPerKey: setting(
    'MAX_REQUEST_FILE_BYTES_PER_KEY',
    'limits',
    integer(53_687_091_200, 0, 1e15),
    'Bytes of the files inside the requests of an API key; 0: no limit.',
  ),
  maxKeptBytesPerKey: setting(
    'MAX_KEPT_BYTES_PER_KEY',
    'limits',
    integer(5_368_709_120, 0, 1e15),
    'Bytes of the outputs that an API key keeps; 0: no limit.',
  ),
  batchMaxItems: setting('BATCH_MAX_ITEMS', 'limits', integer(1000, 1, 5000), 'Items of one batch.'),

  ...RETENTION_SETTINGS,

  shutdownDelayS: setting(
    'SHUTDOWN_DELAY_S',
    'operation',
    decimal(0, 0, 3600),
    'Seconds to go on serving, with /readyz at 503, before anything stops.',
  ),
  shutdownGraceS: setting('SHUTDOWN_GRACE_S', 'operation', decimal(25, 0, 3600), 'Seconds for running work to end.'),
  apiKeyCacheTtlS: setting('API_KEY_CACHE_TTL_S', 'operation', decimal(5, 0, 5), 'Seconds a key may stay cached.'),
  logLevel: setting('LOG_LEVEL', 'operation', oneOf(LOG_LEVELS, 'info'), 'The least severe level that is logged.'),
  ...OBSERVATION_SETTINGS,
};
