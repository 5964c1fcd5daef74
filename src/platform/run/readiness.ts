import { Injectable, Logger } from '@nestjs/common';
import { EventLoop } from './event-loop.ts';
import { outsideOfRequests } from '../observe/logging/request-context.ts';

/** Resolves if the dependency works; rejects if it does not. */
type Check = (signal: AbortSignal) => Promise<unknown>;
type Outcome = 'ok' | 'failed' | 'timeout' | 'draining' | 'stuck';

export interface ReadinessReport {
  ready: boolean;
  checks: Record<string, Outcome>;
}

/** A check that takes longer counts as failed, and is reported as `timeout`. */
const CHECK_TIMEOUT_MS = 2_000;
/** A report is cached for this time: /readyz needs no API key, so frequent requests must not load the database. */
const REPORT_TTL_MS = 500;

interface CheckOptions {
  /** A failed check is reported, but the process stays ready: it works without the dependency, only slower. */
  isOptional?: boolean;
  /** How long a success counts. For checks that are expensive or paid for. */
  ttlMs?: number;
}

interface RegisteredCheck extends CheckOptions {
  check: Check;
  /** Until when the last success counts, on the monotonic clock. */
  okUntil: number;
}

/**
 * Whether this process can do its work. Modules register checks of their dependencies, such as the database and the
 * storage.
 */
@Injectable()
export class Readiness {
  private readonly logger = new Logger('health');
  private readonly checks = new Map<string, RegisteredCheck>();
  private latest: { report: Promise<ReadinessReport>; until: number } | null = null;

  private readonly loop = new EventLoop();
  private draining = false;

  register(name: string, check: Check, options: CheckOptions = {}): void {
    if (this.checks.has(name)) throw new Error(`The readiness check "${name}" is registered twice.`);
    this.checks.set(name, { ...options, check, okUntil: 0 });
  }

  /** From now on the process reports that it is not ready, so that load balancers send its requests elsewhere. */
  stop(): void {
    this.draining = true;
  }

  /** Whether the process has begun to stop. It then serves requests for a while, but takes no tasks. */
  get isDraining(): boolean {
    return this.draining;
  }

  /**
   * Whether this process itself works, whatever the database and other shared parts do. If shared parts counted, their
   * failure would take every process out of its load balancer at the same time.
   */
  ofProcess(): ReadinessReport {
    const process = this.draining ? 'draining' : this.loop.isStuck ? 'stuck' : 'ok';
    return { ready: process === 'ok', checks: { process } };
  }

  /** Runs the checks that are due, in parallel, at most twice a second. Calls in between share the same report. */
  report(): Promise<ReadinessReport> {
    if (this.draining) return Promise.resolve({ ready: false, checks: { process: 'draining' } });
    if (this.latest === null || performance.now() > this.latest.until) {
      const report = outsideOfRequests(() => this.runAll());
      this.latest = { report, until: Infinity };
      void report.then(() => (this.latest = { report, until: performance.now() + REPORT_TTL_MS }));
    }
    return this.latest.report;
  }

  private async runAll(): Promise<ReadinessReport> {
    const outcomes = await Promise.all(
      [...this.checks].map(async ([name, check]) => [name, await this.run(name, check)] as const),
    );
    const ready = outcomes.every(([name, outcome]) => outcome === 'ok' || this.checks.get(name)!.isOptional);
    return { ready, checks: Object.fromEntries(outcomes) };
  }

  private async run(name: string, registered: RegisteredCheck): Promise<Outcome> {
    if (performance.now() < registered.okUntil) return 'ok';
    const signal = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const timeout = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    try {
      await Promise.race([registered.check(signal), timeout]);
      registered.okUntil = performance.now() + (registered.ttlMs ?? 0);
      return 'ok';
    } catch (err) {
      if (!registered.isOptional) this.logger.warn({ event: 'readiness.failed', check: name, err });
      return signal.aborted ? 'timeout' : 'failed';
    }
  }
}
