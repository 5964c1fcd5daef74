import { outsideOfRequests } from './request-context.ts';
import type { LineLevel } from '../../config/log-levels.ts';
import { errorFields } from './scrub.ts';

type Fields = Record<string, unknown>;
type Write = (level: LineLevel, fields: Fields) => void;

/** A line is written once in this time, however often it is logged. */
const WINDOW_MS = 10_000;
/** Maximum number of different lines that are remembered. Further lines are written each time. */
const MAX_LINES = 1_000;

/** Maximum number of requests that a repeated line names. */
const MAX_REQUESTS = 20;

/** Fields that may differ between two lines that count as the same line. */
const OWN_TO_ONE_LINE = new Set(['request_id', 'trace_id', 'span_id', 'stack']);

interface Repeated {
  repeated: number;
  level: LineLevel;
  fields: Fields;
  /** Ids of the repeated requests: a client that asks about its request has only the id. */
  requestIds: Set<string>;
}

/**
 * Writes the same line once in ten seconds: when a database is away, every loop of the process logs its failure again
 * and again. The first line is written at once. If equal lines come within ten seconds, one line with their number
 * follows.
 */
export class Repeats {
  private readonly lines = new Map<string, Repeated>();
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly write: Write,
    private readonly windowMs = WINDOW_MS,
  ) {}

  /**
   * @returns true if the same line was written a short time ago: then the given line is counted, and must not be
   *   written
   */
  absorb(level: LineLevel, fields: Fields): boolean {
    const identity = identityOf(level, fields);
    if (identity === null) return false;
    const earlier = this.lines.get(identity);
    if (earlier) {
      earlier.repeated += 1;
      const { request_id: requestId } = fields;
      if (typeof requestId === 'string' && earlier.requestIds.size < MAX_REQUESTS) earlier.requestIds.add(requestId);
      return true;
    }
    if (this.lines.size < MAX_LINES) this.open(identity, level, fields);
    return false;
  }

  /** Writes the lines that were only counted so far. Call this before the process ends. */
  flush(): void {
    for (const identity of this.lines.keys()) this.close(identity);
  }

  /** The timer runs outside of the request, because its line is about many requests. */
  private open(identity: string, level: LineLevel, fields: Fields): void {
    this.lines.set(identity, { repeated: 0, level, fields, requestIds: new Set() });
    const timer = outsideOfRequests(() => setTimeout(() => this.close(identity), this.windowMs).unref());
    this.timers.set(identity, timer);
  }

  private close(identity: string): void {
    const line = this.lines.get(identity);
    clearTimeout(this.timers.get(identity));
    this.lines.delete(identity);
    this.timers.delete(identity);
    if (!line || line.repeated === 0) return;
    const { request_id: _one, ...fields } = line.fields;
    const requests = line.requestIds.size > 0 && { request_ids: [...line.requestIds] };
    this.write(line.level, { ...fields, repeated: line.repeated, ...requests });
    this.open(identity, line.level, line.fields); // so a line that goes on repeating is written every ten seconds
  }
}

/**
 * Two lines with the same identity count as the same line. Only the request may differ, or the stack of an error with
 * the same message.
 * @returns null for fields that JSON cannot hold
 */
function identityOf(level: LineLevel, fields: Fields): string | null {
  try {
    return JSON.stringify([level, fields], (name, value: unknown) => {
      if (OWN_TO_ONE_LINE.has(name)) return undefined;
      return value instanceof Error ? errorFields(value) : value;
    });
  } catch {
    return null;
  }
}
