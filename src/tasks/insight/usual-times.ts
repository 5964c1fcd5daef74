import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Sampled } from '../../platform/run/sampled.ts';
import { anyRunOf, type RunKind, runKindKey } from '../record/run-kind.ts';
import { RunTimes } from '../record/run-times.entity.ts';

const REFRESH_MS = 60_000;
/** The interval for kinds of runs without data, so that the first successes of a new service count soon. */
const REFRESH_NEW_MS = 10_000;

/** With fewer runs there are no typical times. */
const MIN_TYPICAL = 5;

export interface TypicalTimes {
  /** How many runs the times come from. */
  tasks: number;
  wait_p50_ms: number;
  run_p50_ms: number;
  run_p95_ms: number;
}

interface Times {
  medianS: number;
  typical: TypicalTimes | null;
}

/**
 * How long runs usually take: medians of the last successes, refreshed each minute, and more often for kinds without
 * data.
 */
@Injectable()
export class UsualTimes {
  private readonly times = new Sampled(() => this.read(), REFRESH_MS);
  private readonly newTimes = new Sampled(() => this.read(), REFRESH_NEW_MS);

  constructor(@InjectRepository(RunTimes) private readonly rows: Repository<RunTimes>) {}

  /** How many seconds a run of this kind usually takes; null without data. */
  async of(kind: RunKind): Promise<number | null> {
    return (await this.timesOf(kind))?.medianS ?? null;
  }

  /**
   * How many milliseconds a run of this kind usually takes; undefined if that was not read before. For callers that
   * must not wait for the database.
   */
  knownMs(kind: RunKind): number | undefined {
    const key = runKindKey(kind);
    const known = lastOf(this.times)?.get(key) ?? lastOf(this.newTimes)?.get(key);
    return known && Math.round(known.medianS * 1000);
  }

  /** Times of the last runs of the model; null while fewer than five are known. */
  async typicalOf(model: string): Promise<TypicalTimes | null> {
    return (await this.timesOf(anyRunOf(model)))?.typical ?? null;
  }

  private async timesOf(kind: RunKind): Promise<Times | undefined> {
    const key = runKindKey(kind);
    return (await this.times.get()).get(key) ?? (await this.newTimes.get()).get(key);
  }

  ofModel(model: string): Promise<number | null> {
    return this.of(anyRunOf(model));
  }

  private async read(): Promise<Map<string, Times>> {
    const rows = await this.rows.find();
    return new Map(
      rows.map((row) => [runKindKey(row), { medianS: median(row.run_ms) / 1000, typical: typicalOf(row) }]),
    );
  }
}

/**
 * The last value that was read, without waiting. If this value is too old, the call starts another read for later
 * calls.
 */
function lastOf<Value>(sampled: Sampled<Value>): Value | undefined {
  const next = sampled.get();
  if (next instanceof Promise) next.catch(() => undefined);
  return sampled.latest;
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}

/**
 * The typical times of the newest runs; null if there are too few. Older builds recorded no waits, so there may be
 * fewer waits than runs. Then only the newest runs count, as many as there are waits.
 */
function typicalOf({ run_ms: runs, wait_ms: waits }: RunTimes): TypicalTimes | null {
  if (waits.length < MIN_TYPICAL) return null;
  return {
    tasks: waits.length,
    wait_p50_ms: quantile(waits, 0.5),
    run_p50_ms: quantile(runs.slice(-waits.length), 0.5),
    run_p95_ms: quantile(runs.slice(-waits.length), 0.95),
  };
}

function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1]!;
}
