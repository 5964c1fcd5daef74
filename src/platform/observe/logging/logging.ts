import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import {
  type LevelSettings,
  type LineLevel,
  LOG_LEVELS,
  type LogLevel,
  type OperatorLevels,
} from '../../config/log-levels.ts';
import { Repeats } from './repeats.ts';
import { activeSpan, traceFieldsOf } from '../traces/span.ts';
import { currentRequest } from './request-context.ts';
import { errorFields, scrub } from './scrub.ts';
import { terminalLines } from './terminal-lines.ts';

/** Fields of every line, so that lines of several processes can be stored together. */
export interface LogIdentity {
  service: string;
  version: string;
  role: string;
  process: string;
}

/**
 * Creates the logger of the process. It writes one JSON object per line to standard output, with the ids of the current
 * request and span. For a terminal it writes readable lines. It writes every line that it gets: `NestLogger` applies
 * the levels.
 * @param destination only tests pass another one
 */
export function createLogger(
  identity: Partial<LogIdentity>,
  destination: DestinationStream = standardOutput(),
): Logger {
  return pino(
    {
      level: 'trace',
      base: identity,
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const id = currentRequest.getStore()?.id;
        const span = activeSpan();
        return { ...(id !== undefined && { request_id: id }), ...(span && traceFieldsOf(span)) };
      },
      serializers: {
        err: (error) => errorFields(error),
        cause: (cause) => (cause instanceof Error ? errorFields(cause) : cause),
      },
      hooks: { streamWrite: scrub }, // scrubs each whole line, so that no caller can forget it
    },
    destination,
  );
}

let millisecond = 0;
let fragment = '';

/** pino's own function creates a Date per line. This one creates a Date per millisecond: under load, lines share it. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    fragment = `,"time":"${new Date(now).toISOString()}"`;
  }
  return fragment;
}

/** One write per line would cost more than the rest of a small request, so lines are batched by size and time. */
const BATCH_BYTES = 8192;
const BATCH_MS = 200;

/** pino writes the last batch when the process ends, unless by SIGKILL. */
function standardOutput(): DestinationStream {
  if (process.stdout.isTTY) return terminalLines(process.stdout);
  return pino.destination({ dest: 1, sync: false, minLength: BATCH_BYTES, periodicFlush: BATCH_MS });
}

const NOTHING_SET: OperatorLevels = { logLevel: null, logLevels: {} };

const severity = (level: LogLevel): number => (level === 'silent' ? -1 : LOG_LEVELS.indexOf(level));

/** Level of the context `audit`, whose lines show what operators do. An operator cannot hide any of these lines. */
const auditOf = ({ logLevel, logLevels }: LevelSettings): LogLevel => logLevels.audit ?? logLevel;

/** Decides which lines are logged. The levels can change while the process runs. */
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
    const asked = {
      logLevel: logLevel ?? this.settings.logLevel,
      logLevels: { ...this.settings.logLevels, ...logLevels },
    };
    const audit = auditOf(this.settings);
    if (severity(auditOf(asked)) >= severity(audit)) return asked;
    return { ...asked, logLevels: { ...asked.logLevels, audit } };
  }

  /** Applies the settings from the next line on. Levels that an operator has set stay in force. */
  change(settings: LevelSettings): void {
    this.settings = settings;
    this.apply();
  }

  /** Applies the levels of an operator from the next line on; null removes them. */
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

/** The levels of this process, which has one log. SIGHUP and operators change them. */
export const logLevels = new LogLevels();

/** Nest logs every module and route that it loads. These lines go to `debug`. */
const NEST_STARTUP_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
  'GraphQLModule',
]);

/**
 * The log of the process, and Nest's logger: `new Logger('webhooks').log({ event: 'webhook.attempted', ms })` logs one
 * line.
 */
export class NestLogger implements LoggerService {
  private readonly repeats = new Repeats((level, fields) => this.logger[level](fields));

  constructor(
    private readonly logger: Logger,
    private readonly levels: LogLevels,
  ) {}

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }
  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
  }
  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }
  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }
  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }
  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** Writes a line at once, even if it repeats an earlier line. For lines such as that of a finished request. */
  one(level: LineLevel, context: string, fields: () => object): void {
    if (this.levels.allow(level, context)) this.logger[level]({ context, ...fields() });
  }

  /** Writes the lines that were only counted so far. */
  flush(): void {
    this.repeats.flush();
  }

  /** Nest passes the logger's name last, and the stack of an error before it. */
  private write(requested: LineLevel, message: unknown, rest: unknown[]): void {
    const context = typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
    const level = requested === 'info' && NEST_STARTUP_CONTEXTS.has(context ?? '') ? 'debug' : requested;
    if (!this.levels.allow(level, context)) return;
    const fields = fieldsOf(message, rest.length > 1 && typeof rest[0] === 'string' ? rest[0] : undefined);
    const line = { context, ...fields };
    if (!this.repeats.absorb(level, line)) this.logger[level](line);
  }
}

function fieldsOf(message: unknown, stack: string | undefined): object {
  if (message instanceof Error) return { err: message };
  if (typeof message === 'object' && message !== null) return message;
  return { stack, msg: String(message) };
}
