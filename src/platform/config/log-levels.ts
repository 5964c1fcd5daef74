/** The most severe level first. `silent` logs nothing. */
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export type LineLevel = Exclude<LogLevel, 'silent'>;

/** The names that the variable LOG_LEVELS takes. Each is the `context` of the log lines of one part of the service. */
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
  /** Levels of single contexts, in place of `logLevel`. */
  logLevels: Readonly<Record<string, LogLevel>>;
}

/** The levels that an operator has set for all processes. They override the settings. */
export interface OperatorLevels {
  /** null: the level of the settings. */
  logLevel: LogLevel | null;
  logLevels: Readonly<Record<string, LogLevel>>;
}
