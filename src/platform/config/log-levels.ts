/** From the most severe. `silent` logs nothing. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LineLevel = Exclude<LogLevel, 'silent'>;

/** The names that `LOG_LEVELS` takes: `context` of a line says which part of the service has logged it. */
export const LOG_CONTEXTS = [
  'audit',
  'auth',
  'batches',
  'budgets',
  'bus',
  'calls',
  'claimer',
  'clock',
  'database',
  'erasures',
  'errors',
  'feed',
  'files',
  'generate',
  'graphql',
  'health',
  'mcp',
  'models',
  'operations',
  'outputs',
  'pace',
  'pauses',
  'process',
  'provenance',
  'providers',
  'purge',
  'requests',
  'run',
  'running',
  'scratch',
  'serve',
  'storage',
  'sweep',
  'tasks',
  'thumbnails',
  'traces',
  'usage',
  'webhooks',
  'words',
] as const;

export interface LevelSettings {
  /** The least severe level that is logged. */
  logLevel: LogLevel;
  /** By context, in place of `logLevel`. */
  logLevels: Readonly<Record<string, LogLevel>>;
}

/** What an operator has set for all processes. It goes before the settings. */
export interface OperatorLevels {
  /** null: that of the settings. */
  logLevel: LogLevel | null;
  logLevels: Readonly<Record<string, LogLevel>>;
}
