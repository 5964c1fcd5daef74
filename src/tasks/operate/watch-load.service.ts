import { Injectable } from '@nestjs/common';
import { type Outcomes, ReadPace } from '../sql/read-pace.ts';
import { type InFlight, type KeyQueue, type ModelQueue, WatchLoad } from '../sql/watch-load.ts';

/** Of all models, over some minutes. */
export interface TaskRates {
  started: number;
  succeeded: number;
  failed: number;
}

/** How much there is to do, for operators. */
@Injectable()
export class TaskLoad {
  constructor(
    private readonly rows: WatchLoad,
    private readonly pace: ReadPace,
  ) {}

  inFlight(): Promise<InFlight[]> {
    return this.rows.inFlight();
  }

  queues(): Promise<ModelQueue[]> {
    return this.rows.queues();
  }

  keys(limit: number): Promise<KeyQueue[]> {
    return this.rows.keys(limit);
  }

  /** How tasks ended, by model. @param seconds back from now, an hour at most */
  outcomes(seconds: number): Promise<Outcomes[]> {
    return this.pace.outcomes(seconds);
  }

  /** @param seconds back from now */
  async rates(seconds: number): Promise<TaskRates> {
    const [starts, outcomes] = await Promise.all([this.pace.starts(seconds), this.pace.outcomes(seconds)]);
    return {
      started: sum(starts.map(({ started }) => started)),
      succeeded: sum(outcomes.map(({ succeeded }) => succeeded)),
      failed: sum(outcomes.map(({ failed }) => failed)),
    };
  }
}

const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);
