import type { LoggerService } from '@nestjs/common';
import { pino, type DestinationStream, type Logger } from 'pino';
import { currentRequestId } from './request-context.ts';
import { errorFields, scrub } from './scrub.ts';

/**
 * The logger of the process: one JSON object a line on standard output, with the id of the request it belongs to.
 * @param destination elsewhere, for tests
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
      hooks: { streamWrite: scrub }, // the whole line, so that no caller has to think of it
    },
    destination,
  );
}

let millisecond = 0;
let fragment = '';

/** pino's own makes a Date a line; under load many lines share a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== millisecond) {
    millisecond = now;
    fragment = `,"time":"${new Date(now).toISOString()}"`;
  }
  return fragment;
}

/** A write a line would cost more than the rest of a small request: lines gather to this many bytes, or for so long. */
const GATHER_BYTES = 8192;
const GATHER_MS = 200;

/** What has gathered is written when the process ends, by whatever way short of SIGKILL. */
function standardOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: GATHER_BYTES, periodicFlush: GATHER_MS });
}

/** Nest tells of every module and route it loads; that is for who debugs it. */
const NEST_CHATTER = new Set(['NestFactory', 'InstanceLoader', 'RoutesResolver', 'RouterExplorer', 'NestApplication']);

type Level = 'info' | 'error' | 'warn' | 'debug' | 'trace' | 'fatal';

/** Nest's `Logger` on ours: `new Logger('webhooks').log({ event: 'webhook.attempt', ms })` is one structured line. */
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

  /** Nest puts the logger's name last, and the stack of an error before it. */
  private write(asked: Level, message: unknown, rest: unknown[]): void {
    const context = typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
    const level = asked === 'info' && NEST_CHATTER.has(context ?? '') ? 'debug' : asked;
    if (!this.logger.isLevelEnabled(level)) return;
    const stack = rest.length > 1 && typeof rest[0] === 'string' ? rest[0] : undefined;
    if (message instanceof Error) this.logger[level]({ context, err: message });
    else if (typeof message === 'object' && message !== null) this.logger[level]({ context, ...message });
    else this.logger[level]({ context, stack }, String(message));
  }
}
