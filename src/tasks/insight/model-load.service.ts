import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ModelHealth, type ModelLoad } from '../../models/model-health.ts';
import { Sampled } from '../../platform/run/sampled.ts';
import { HOUR_S } from '../../platform/schema/time.ts';
import { DatabaseClock } from '../queue/database-clock.ts';
import { CountByModel, type Unfinished } from '../sql/count-by-model.ts';
import { type Outcomes, ReadPace } from '../sql/read-pace.ts';
import { UsualTimes } from './usual-times.ts';

const SAMPLE_MS = 10_000;

interface Sample {
  unfinished: Map<string, Unfinished>;
  outcomes: Map<string, Outcomes>;
  /** Unix seconds. */
  takenAtS: number;
}

/**
 * Reports to the catalogue how many tasks of each model wait, run, succeed and fail. The tasks are counted at most
 * every ten seconds.
 */
@Injectable()
export class ModelLoadService implements OnModuleInit {
  private readonly samples = new Sampled(() => this.sample(), SAMPLE_MS);

  constructor(
    private readonly rows: CountByModel,
    private readonly pace: ReadPace,
    private readonly times: UsualTimes,
    private readonly clock: DatabaseClock,
    private readonly health: ModelHealth,
  ) {}

  onModuleInit(): void {
    this.health.registerLoad((modelId) => this.of(modelId));
  }

  private async of(modelId: string): Promise<ModelLoad> {
    const { unfinished, outcomes, takenAtS } = await this.current();
    const { queued = 0, running = 0 } = unfinished.get(modelId) ?? {};
    const { succeeded = 0, failed = 0 } = outcomes.get(modelId) ?? {};
    const [median, typical] = await Promise.all([this.times.ofModel(modelId), this.times.typicalOf(modelId)]).catch(
      () => [null, null],
    );
    return { queued, running, median_run_s: median, typical, succeeded, failed, sampled_at: takenAtS };
  }

  /** The current sample; while the database is away, the last sample, whose `takenAtS` says how old it is. */
  private async current(): Promise<Sample> {
    try {
      return await this.samples.get();
    } catch (error) {
      if (!this.samples.latest) throw error;
      return this.samples.latest;
    }
  }

  private async sample(): Promise<Sample> {
    const [unfinished, outcomes] = await Promise.all([this.rows.count(), this.pace.outcomes(HOUR_S)]);
    return {
      unfinished: new Map(unfinished.map((row) => [row.model, row])),
      outcomes: new Map(outcomes.map((row) => [row.model, row])),
      takenAtS: Math.floor(this.clock.nowMs() / 1000),
    };
  }
}
