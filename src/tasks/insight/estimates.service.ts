import { Injectable } from '@nestjs/common';
import type { Caller } from '../../auth/access/caller.ts';
import { ApiError } from '../../errors/api-error.ts';
import { Config } from '../../platform/config/config.ts';
import { Sampled } from '../../platform/run/sampled.ts';
import { DatabaseClock } from '../queue/database-clock.ts';
import { type RunKind, runKindOf } from '../record/run-kind.ts';
import { UsualTimes } from './usual-times.ts';
import { KNOWN_POSITIONS, type LaneRead, ReadLine } from '../sql/read-line.ts';
import { ReadNextPlace } from '../sql/read-next-place.ts';
import { ReadPace, type StartsOf } from '../sql/read-pace.ts';
import { ReadPlaces, type TaskPlace } from '../sql/read-places.ts';
import { isTaskId } from '../record/task-id.ts';
import type { Task } from '../record/task.entity.ts';
import type { TaskEstimateView, WaitingFor } from './estimate.view.ts';
import { Lane, WaitingLine } from './waiting-line.ts';
import { SAMPLE_S } from '../sql/record-pace.ts';

/** How far back starts are counted, in seconds. */
export const RATE_WINDOW_S = 300;

/**
 * How many tasks start per second, counted only over the time for which the oldest waiting task has waited. Before that
 * time no task waited, so tasks started only as often as they were created.
 * @param lineAgeS for how long the oldest waiting task has waited
 * @param nowS unix seconds, by the clock of the samples
 * @returns null if no task has started
 */
export function startRate(samples: readonly StartsOf[], lineAgeS: number, nowS: number): number | null {
  const windowS = Math.min(Math.max(lineAgeS, SAMPLE_S), RATE_WINDOW_S);
  const fromS = Math.floor((nowS - windowS) / SAMPLE_S) * SAMPLE_S;
  const started = samples.reduce((sum, sample) => sum + (sample.from_s >= fromS ? sample.started : 0), 0);
  return started === 0 ? null : started / (nowS - fromS);
}

const LINE_MS = 2_000;

interface LineSample {
  line: WaitingLine;
  /** Tasks that start per second; null when unknown. */
  rate: number | null;
  /** Unix seconds, by the database's clock. */
  readAtS: number;
}

/** A task that is not created yet. */
interface NewTask extends Pick<Task, 'model' | 'input'> {
  isLow: boolean;
}

/**
 * When a task will probably start and end. The waiting tasks are read at most every two seconds, however many requests
 * ask.
 */
@Injectable()
export class EstimatesService {
  private readonly lines = new Sampled(() => this.readLine(), LINE_MS);

  constructor(
    private readonly places: ReadPlaces,
    private readonly nextPlaces: ReadNextPlace,
    private readonly line: ReadLine,
    private readonly pace: ReadPace,
    private readonly times: UsualTimes,
    private readonly clock: DatabaseClock,
    private readonly config: Config,
  ) {}

  /** @throws ApiError task_not_found */
  async of(apiKeyId: string, taskId: string): Promise<TaskEstimateView> {
    const task = isTaskId(taskId) ? await this.places.find(taskId) : null;
    if (task?.api_key_id !== apiKeyId) throw new ApiError('task_not_found', { param: 'task_id' });
    const sample = await this.lines.get();
    const waitingFor = waitOf(task);
    const position = waitingFor === 'worker' ? known(sample.line.positionOf(task, task.low)) : null;
    const startS = startAt(sample, position);
    return {
      object: 'task_estimate',
      task_id: task.id,
      status: task.status,
      position,
      waiting_for: waitingFor,
      estimated_start_at: this.notInThePast(startS),
      estimated_completion_at: this.notInThePast(
        waitingFor === null || startS !== null ? await this.endOf(task, startS) : null,
      ),
      sampled_at: Math.floor(sample.readAtS),
    };
  }

  /**
   * Estimates for a task that would be created now. An estimate is null if the limit of the API key would hold the task
   * back, or if too little is known for the estimate.
   */
  async ofNew(
    caller: Caller,
    { isLow, ...task }: NewTask,
  ): Promise<Pick<TaskEstimateView, 'estimated_start_at' | 'estimated_completion_at'>> {
    const [sample, place] = await Promise.all([this.lines.get(), this.nextPlaces.read(caller, isLow)]);
    const position = place.is_held ? null : known(sample.line.positionOf({ ...place, id: AFTER_ALL_IDS }, isLow));
    const startS = startAt(sample, position);
    return {
      estimated_start_at: this.notInThePast(startS),
      estimated_completion_at: this.notInThePast(await this.endOfRun(runKindOf(task), startS)),
    };
  }

  /** Unix seconds at which the task will probably end; null if unknown. */
  private async endOf(task: TaskPlace, startS: number | null): Promise<number | null> {
    return this.endOfRun(runKindOf(task), task.status === 'running' ? startOf(task) : startS);
  }

  private async endOfRun(kind: RunKind, startS: number | null): Promise<number | null> {
    if (startS === null) return null;
    const runS = await this.times.of(kind);
    return runS === null ? null : startS + runS;
  }

  private notInThePast(unixS: number | null): number | null {
    return unixS === null ? null : Math.ceil(Math.max(unixS, this.clock.nowMs() / 1000));
  }

  private async readLine(): Promise<LineSample> {
    const [read, starts] = await Promise.all([this.line.read(), this.pace.starts(RATE_WINDOW_S)]);
    return {
      line: new WaitingLine(laneOf(read.normal), laneOf(read.low), this.config.lowPriorityShare),
      rate: startRate(starts, read.ageS, read.nowS),
      readAtS: read.nowS,
    };
  }
}

/** Sorts behind every id, because a new task waits behind the tasks with the same `place`. */
const AFTER_ALL_IDS = '~';

const startAt = ({ readAtS, rate }: LineSample, position: number | null): number | null =>
  position !== null && rate !== null ? readAtS + position / rate : null;

const laneOf = ({ ids, places }: LaneRead): Lane => new Lane(ids, places, ids.length < KNOWN_POSITIONS);

const known = (position: number | null): number | null =>
  position !== null && position <= KNOWN_POSITIONS ? position : null;

function waitOf({ status, parked, is_held: isHeld, is_paused: isPaused }: TaskPlace): WaitingFor | null {
  if (isPaused && (status === 'queued' || status === 'running')) return 'pause';
  if (parked) return 'key_limit';
  if (status === 'queued') return 'worker';
  return status === 'running' && isHeld ? 'provider_limit' : null;
}

const startOf = ({ started_at: startedAt }: TaskPlace): number | null => startedAt && startedAt.getTime() / 1000;
