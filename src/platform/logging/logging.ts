import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { currentRequestId } from './request-context.ts';
import { errorFields, scrub } from './scrub.ts';

/**
 * Creates the logger of the process: one JSON object per line on standard output, with the id of the current request.
 * @param destination only tests pass another one
 */
export function createLogger(level: string, destination: DestinationStream = standardOutput()): Logger {
  return pino(
    {
      level,
      base: undefined,
      timestamp: isoTime,
      formatters: { level: (label) => ({ level: label }) },
      mixin: () => {
        const id = currentRequestId.getStore();
        return id === undefined ? {} : { request_id: id };
      },
      serializers: { err: (error) => errorFields(error) },
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
  return pino.destination({ dest: 1, sync: false, minLength: BATCH_BYTES, periodicFlush: BATCH_MS });
}

/** Nest logs every module and route that it loads; these lines go to `debug`. */
const NEST_STARTUP_CONTEXTS = new Set([
  'NestFactory',
  'InstanceLoader',
  'RoutesResolver',
  'RouterExplorer',
  'NestApplication',
]);

type Level = 'info' | 'error' | 'warn' | 'debug' | 'trace' | 'fatal';

/** Sends Nest's `Logger` to pino: `new Logger('webhooks').log({ event: 'webhook.delivered', ms })` logs one line. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

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

  /** Nest passes the logger's name last, and the stack of an error before it. */
  private write(requested: Level, message: unknown, rest: unknown[]): void {
    const context = typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
    const level = requested === 'info' && NEST_STARTUP_CONTEXTS.has(context ?? '') ? 'debug' : requested;
    if (!this.logger.isLevelEnabled(level)) return;
    const stack = rest.length > 1 && typeof rest[0] === 'string' ? rest[0] : undefined;
    if (message instanceof Error) this.logger[level]({ context, err: message });
    else if (typeof message === 'object' && message !== null) this.logger[level]({ context, ...message });
    else this.logger[level]({ context, stack }, String(message));
  }
}
