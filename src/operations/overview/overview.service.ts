import { Injectable } from '@nestjs/common';
import { MIGRATIONS } from '../../platform/database/migrations.ts';
import { Config } from '../../platform/config/config.ts';
import { Readiness } from '../../platform/run/readiness.ts';
import { Sampled } from '../../platform/run/sampled.ts';
import { HOUR_S } from '../../platform/schema/time.ts';
import { VERSION } from '../../platform/config/version.ts';
import { RecentRates } from '../../tasks/insight/recent-rates.ts';
import { Pauses } from '../../tasks/queue/pauses.ts';
import { RecentActivity } from '../processes/recent-activity.ts';
import { LogLevelsService } from '../processes/log-levels.service.ts';
import { PROCESS_STATES } from '../processes/process-state.ts';
import { ProcessesService } from '../processes/processes.service.ts';
import { ReadMigrations } from './sql/read-migrations.ts';
import { WatchLoad } from '../tasks/sql/watch-load.ts';
import { toObjectiveView } from './objective.view.ts';
import type { OperationsOverviewView, ProcessCountsView } from './overview.view.ts';

const RATES_S = 300;
/** Milliseconds for which requests share a sample, because a sample counts all unfinished tasks. */
const SAMPLE_MS = 1_000;

/** The overview that operators see first. */
@Injectable()
export class OverviewService {
  private readonly samples = new Sampled(() => this.read(), SAMPLE_MS);

  constructor(
    private readonly load: WatchLoad,
    private readonly rates: RecentRates,
    private readonly processes: ProcessesService,
    private readonly pauses: Pauses,
    private readonly readiness: Readiness,
    private readonly activity: RecentActivity,
    private readonly levels: LogLevelsService,
    private readonly migrations: ReadMigrations,
    private readonly config: Config,
  ) {}

  async overview(): Promise<OperationsOverviewView> {
    return this.samples.get();
  }

  private async read(): Promise<OperationsOverviewView> {
    const [queues, outcomes, rates, processes, { checks }, activity, levels, migration] = await Promise.all([
      this.load.queues(),
      this.rates.outcomes(HOUR_S),
      this.rates.rates(RATES_S),
      this.processes.list(),
      this.readiness.report(),
      this.activity.get(),
      this.levels.read(),
      this.migrations.last(),
    ]);
    const claiming = processes.filter(({ state }) => state === 'live' || state === 'late');
    const seen = processes.filter(({ state }) => state !== 'lost');
    const countOf = (state: string) => processes.filter((each) => each.state === state).length;
    const states = Object.fromEntries(PROCESS_STATES.map((state) => [state, countOf(state)]));
    return {
      object: 'operations',
      version: VERSION,
      migration,
      known_migration: MIGRATIONS.at(-1)!.name,
      checks,
      processes: states as unknown as ProcessCountsView,
      queue: queues.map((queue) => {
        const { succeeded = 0, failed = 0 } = outcomes.find(({ model }) => model === queue.model) ?? {};
        return { ...queue, succeeded_last_hour: succeeded, failed_last_hour: failed };
      }),
      rates: { ...rates, created: activity.created, ended: activity.ended },
      places: { total: sum(claiming.map(({ slots }) => slots)), busy: sum(seen.map(({ busy }) => busy)) },
      objectives: activity.objectives.map(toObjectiveView),
      storage: this.config.storageUrl ? 's3' : 'disk',
      bus: { kind: this.config.eventsUrl === null ? 'postgres' : 'redis', ...activity.bus },
      database_connections: activity.pool,
      pauses: this.pauses.count,
      log_levels: levels,
      sampled_at: Math.floor(Date.now() / 1000),
    };
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);
