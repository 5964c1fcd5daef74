import { Injectable } from '@nestjs/common';
import type { ModelHealthView } from './model-health.view.ts';
import type { ModelTypicalView } from './model-typical.view.ts';

/** Numbers from the tasks of one model. */
export interface ModelLoad {
  queued: number;
  running: number;
  median_run_s: number | null;
  /** `succeeded` and `failed` count tasks that ended in the last hour, without cancelled tasks and refused content. */
  succeeded: number;
  failed: number;
  /** Unix seconds. */
  sampled_at: number;
  typical: ModelTypicalView | null;
}

/** With fewer ended tasks the success rate does not change the status. */
const MIN_ENDS = 20;
const GOOD_RATE = 0.9;

/** Code in src/tasks and src/providers, which this folder must not import, registers here how well the models work. */
@Injectable()
export class ModelHealth {
  private loadOf: (modelId: string) => Promise<ModelLoad> = async () => IDLE;
  private isTroubled: (modelId: string) => boolean = () => false;

  /** @param loadOf answers from memory, from a sample that is at most ten seconds old */
  registerLoad(loadOf: (modelId: string) => Promise<ModelLoad>): void {
    this.loadOf = loadOf;
  }

  /** @param isTroubled whether calls to one of the model's providers are suspended */
  registerTrouble(isTroubled: (modelId: string) => boolean): void {
    this.isTroubled = isTroubled;
  }

  /** The typical times, from the sample of `loadOf`; null while too few tasks have succeeded. */
  async typicalOf(modelId: string): Promise<ModelTypicalView | null> {
    return (await this.loadOf(modelId)).typical;
  }

  async of(modelId: string, isAvailable: boolean): Promise<ModelHealthView> {
    const { succeeded, failed, ...load } = await this.loadOf(modelId);
    const ends = succeeded + failed;
    const rate = ends === 0 ? null : succeeded / ends;
    const isDegraded = this.isTroubled(modelId) || (rate !== null && ends >= MIN_ENDS && rate < GOOD_RATE);
    return {
      status: isAvailable ? (isDegraded ? 'degraded' : 'operational') : 'unavailable',
      queued: load.queued,
      running: load.running,
      median_run_s: load.median_run_s,
      success_rate: rate,
      sampled_at: load.sampled_at,
    };
  }
}

const IDLE: ModelLoad = {
  queued: 0,
  running: 0,
  median_run_s: null,
  succeeded: 0,
  failed: 0,
  sampled_at: 0,
  typical: null,
};
