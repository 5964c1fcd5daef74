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
import { currentRequestId } from './request-context.ts';
import { errorFields, scrub } from './scrub.ts';
import { terminalLines } from './terminal-lines.ts';

/** On every line, so that lines of several processes can be kept in one place. */
export interface LogIdentity {
  service: string;
  version: string;
  role: string;
  process: string;
}

/**
 * Creates the logger of the process: one JSON object per line on standard output, with the id of the current request
 * and span, or readable lines if that is a terminal. It writes every line that it is given: `NestLogger` knows the
 * levels.
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
        const id = currentRequestId.getStore();
        const span = activeSpan();
        return { ...(id !== undefined && { request_id: id }), ...(span && traceFieldsOf(span)) };
      },
      serializers: {
        err: (error) => errorFields(error),
        cause: (cause) => (cause instanceof Error ? errorFields(cause) : cause),
      },
      hooks: { streamWrite: scrub }, // the whole line, so that no caller can forget it
    },
    destination,
  );
}

let millisecond = 0;
let fragment = '';

/** pino's own creates a Date per line; under load many lines share a millisecond. */
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

/** Who watches operators by the log must see what they do: an operator cannot take lines from this context. */
const auditOf = ({ logLevel, logLevels }: LevelSettings): LogLevel => logLevels.audit ?? logLevel;

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
    const asked = {
      logLevel: logLevel ?? this.settings.logLevel,
      logLevels: { ...this.settings.logLevels, ...logLevels },
    };
    const audit = auditOf(this.settings);
    if (severity(auditOf(asked)) >= severity(audit)) return asked;
    return { ...asked, logLevels: { ...asked.logLevels, audit } };
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

/** Nest logs every module and route that it loads; these lines go to `debug`. */
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

  /** Writes a line that is like no other, such as that of one request. */
  one(level: LineLevel, context: string, fields: () => object): void {
    if (this.levels.allow(level, context)) this.logger[level]({ context, ...fields() });
  }

  /** Writes the lines that were counted, not written. */
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
