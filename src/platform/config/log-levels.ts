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
  'operations',
  'outputs',
  'pace',
  'partitions',
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

/** What an operator has set for all processes. It goes before the settings. */
export interface OperatorLevels {
  /** null: that of the settings. */
  logLevel: LogLevel | null;
  logLevels: Readonly<Record<string, LogLevel>>;
}

const NOTHING_SET: OperatorLevels = { logLevel: null, logLevels: {} };

const severity = (level: LogLevel): number => (level === 'silent' ? -1 : LOG_LEVELS.indexOf(level));

/** Decides which lines are logged. It can change while the process runs. */
export class LogLevels {
  private general = severity('info');
  private byContext = new Map<string, number>();

  constructor(
    private settings: LevelSettings = { logLevel: 'info', logLevels: {} },
    private ofOperator: OperatorLevels = NOTHING_SET,
  ) {
    this.apply();
  }

  /** The levels in force. */
  get current(): LevelSettings {
    const { logLevel, logLevels } = this.ofOperator;
    return { logLevel: logLevel ?? this.settings.logLevel, logLevels: { ...this.settings.logLevels, ...logLevels } };
  }

  /** In force from the next line on, but for what an operator has set. */
  change(settings: LevelSettings): void {
    this.settings = settings;
    this.apply();
  }

  /** In force from the next line on. */
  override(levels: OperatorLevels | null): void {
    this.ofOperator = levels ?? NOTHING_SET;
    this.apply();
  }

  private apply(): void {
    const { logLevel, logLevels } = this.current;
    this.general = severity(logLevel);
    this.byContext = new Map(Object.entries(logLevels).map(([context, level]) => [context, severity(level)] as const));
  }

  allow(level: LineLevel, context: string | undefined): boolean {
    const least = (context === undefined ? undefined : this.byContext.get(context)) ?? this.general;
    return LOG_LEVELS.indexOf(level) <= least;
  }
}

/** Of this process, which has one log: SIGHUP and the operator change them. */
export const logLevels = new LogLevels();
