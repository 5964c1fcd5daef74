import { Injectable } from '@nestjs/common';
import { type Outcomes, ReadPace } from '../sql/read-pace.ts';

/** How many tasks of all models together started and ended within a given time. */
export interface TaskRates {
  started: number;
  succeeded: number;
  failed: number;
}

/** How many tasks have lately started and ended, for operators. */
@Injectable()
export class RecentRates {
  constructor(private readonly pace: ReadPace) {}

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
