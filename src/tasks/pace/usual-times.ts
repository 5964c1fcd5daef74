import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Sampled } from '../../platform/sampled.ts';
import { anyRunOf, type RunKind, runKindKey } from './run-kind.ts';
import { RunTimes } from './run-times.entity.ts';

const REFRESH_MS = 60_000;
/** While some kind of run has no data: the first successes of a new service count at once. */
const REFRESH_NEW_MS = 10_000;

/** How long runs usually take: medians of the last successes, refreshed each minute. */
@Injectable()
export class UsualTimes {
  private readonly medians = new Sampled(() => this.read(), REFRESH_MS);
  private readonly newMedians = new Sampled(() => this.read(), REFRESH_NEW_MS);

  constructor(@InjectRepository(RunTimes) private readonly rows: Repository<RunTimes>) {}

  /** Seconds; null without data. */
  async of(kind: RunKind): Promise<number | null> {
    const key = runKindKey(kind);
    return (await this.medians.get()).get(key) ?? (await this.newMedians.get()).get(key) ?? null;
  }

  ofModel(model: string): Promise<number | null> {
    return this.of(anyRunOf(model));
  }

  private async read(): Promise<Map<string, number>> {
    const rows = await this.rows.find();
    return new Map(rows.map((row) => [runKindKey(row), median(row.run_ms) / 1000]));
  }
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  return (sorted[Math.ceil(middle) - 1]! + sorted[Math.floor(middle)]!) / 2;
}
