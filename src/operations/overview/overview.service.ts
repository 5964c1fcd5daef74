import { Injectable } from '@nestjs/common';
import { KeyNames } from '../../auth/api-keys/key-names.ts';
import { MIGRATIONS } from '../../platform/database/migrations.ts';
import { Readiness } from '../../platform/readiness.ts';
import { Sampled } from '../../platform/sampled.ts';
import { unixSeconds } from '../../platform/time.ts';
import { VERSION } from '../../platform/version.ts';
import { TaskLoad } from '../../tasks/operate/watch-load.service.ts';
import { Pauses } from '../../tasks/pauses/pauses.ts';
import { PROCESS_STATES } from '../processes/process-state.ts';
import { ProcessesService } from '../processes/processes.service.ts';
import type { KeyQueueView, OperationsOverviewView, ProcessCountsView } from './overview.view.ts';

const RATES_S = 300;
const MAX_KEYS = 100;
/** It counts all unfinished tasks, so many operators share one. */
const SAMPLE_MS = 1_000;

/** What operators see first. */
@Injectable()
export class OverviewService {
  private readonly samples = new Sampled(() => this.read(), SAMPLE_MS);

  constructor(
    private readonly load: TaskLoad,
    private readonly processes: ProcessesService,
    private readonly pauses: Pauses,
    private readonly readiness: Readiness,
    private readonly names: KeyNames,
  ) {}

  async overview(): Promise<OperationsOverviewView> {
    return this.samples.get();
  }

  /** The hundred keys with most unfinished tasks. */
  async keys(): Promise<KeyQueueView[]> {
    const rows = await this.load.keys(MAX_KEYS);
    const names = await this.names.of(rows.map(({ api_key_id }) => api_key_id));
    return rows.map((row) => {
      const { name = null, last_used_at: lastUsedAt = null } = names.get(row.api_key_id) ?? {};
      return { ...row, name, last_used_at: lastUsedAt && unixSeconds(lastUsedAt) };
    });
  }

  private async read(): Promise<OperationsOverviewView> {
    const [queue, rates, processes, { checks }] = await Promise.all([
      this.load.queues(),
      this.load.rates(RATES_S),
      this.processes.list(),
      this.readiness.report(),
    ]);
    const countOf = (state: string) => processes.filter((each) => each.state === state).length;
    const states = Object.fromEntries(PROCESS_STATES.map((state) => [state, countOf(state)]));
    return {
      object: 'operations',
      version: VERSION,
      migration: MIGRATIONS.at(-1)!.name,
      checks,
      processes: states as unknown as ProcessCountsView,
      queue,
      rates,
      pauses: this.pauses.count,
      sampled_at: Math.floor(Date.now() / 1000),
    };
  }
}
