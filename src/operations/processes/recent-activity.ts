import { Injectable } from '@nestjs/common';
import { Sampled } from '../../platform/run/sampled.ts';
import { ProcessRows } from './sql/process-rows.ts';
import { type Activity, total } from '../activity/activity.ts';

/** Milliseconds for which requests share a sample. Each process publishes every ten seconds. */
const SAMPLE_MS = 1_000;

/** What all processes have counted in the last hour. A lost process no longer counts. */
@Injectable()
export class RecentActivity {
  private readonly samples = new Sampled(() => this.read(), SAMPLE_MS);

  constructor(private readonly rows: ProcessRows) {}

  async get(): Promise<Activity> {
    return this.samples.get();
  }

  private async read(): Promise<Activity> {
    const rows = await this.rows.list();
    return total(rows.filter(({ state }) => state !== 'lost').map(({ activity }) => activity));
  }
}
