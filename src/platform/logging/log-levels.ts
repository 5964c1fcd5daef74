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
  'errors',
  'feed',
  'files',
  'generate',
  'graphql',
  'health',
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
] as const;

export interface LevelSettings {
  /** The least severe level that is logged. */
  logLevel: LogLevel;
  /** By context, in place of `logLevel`. */
  logLevels: Readonly<Record<string, LogLevel>>;
}

const severity = (level: LogLevel): number => (level === 'silent' ? -1 : LOG_LEVELS.indexOf(level));

/** Decides which lines are logged. It can change while the process runs. */
export class LogLevels {
  private general = severity('info');
  private byContext = new Map<string, number>();

  constructor(private settings: LevelSettings = { logLevel: 'info', logLevels: {} }) {
    this.change(settings);
  }

  get current(): LevelSettings {
    return this.settings;
  }

  /** In force from the next line on. */
  change(settings: LevelSettings): void {
    this.settings = settings;
    this.general = severity(settings.logLevel);
    this.byContext = new Map(
      Object.entries(settings.logLevels).map(([context, level]) => [context, severity(level)] as const),
    );
  }

  allow(level: LineLevel, context: string | undefined): boolean {
    const least = (context === undefined ? undefined : this.byContext.get(context)) ?? this.general;
    return LOG_LEVELS.indexOf(level) <= least;
  }
}

/** Of this process, which has one log: SIGHUP and the operator change them. */
export const logLevels = new LogLevels();
