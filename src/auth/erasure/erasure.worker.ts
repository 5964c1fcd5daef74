import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../platform/config/config.ts';
import { Interval } from '../../platform/run/interval.ts';
import { ErasureLost, ErasureRows, type TakenErasure } from './sql/erasure-rows.ts';
import { ErasureSteps } from './erasure-steps.ts';
import { LAST_STEPS, ROUND_STEPS } from './erasure-step.ts';
import { ErasureWork } from './erasure-work.ts';

/** Seconds between rounds, and seconds until the next attempt after a failed round. */
const ROUND_EVERY_S = 5;
const RETRY_AFTER_S = 30;

/** Carries out erasures. Runs in every worker process; a lease gives each erasure to one process at a time. */
@Injectable()
export class ErasureWorker implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('erasures');
  private readonly interval = new Interval(() => this.runOnce());
  private isStopping = false;

  constructor(
    private readonly config: Config,
    private readonly rows: ErasureRows,
    private readonly steps: ErasureSteps,
  ) {}

  onApplicationBootstrap(): void {
    if (this.config.role === 'api') return; // the command line has the role `api` too, and lacks some steps
    this.steps.assertComplete();
    this.interval.start(1);
  }

  async onApplicationShutdown(): Promise<void> {
    this.isStopping = true; // another process, or this one after its next start, continues the erasure
    await this.interval.stop();
  }

  /** @returns seconds until the next poll */
  private async runOnce(): Promise<number> {
    try {
      const taken = await this.rows.take();
      if (!taken) return this.config.taskSweepS;
      await this.carryOut(taken);
      return 0;
    } catch (err) {
      this.logger.warn({ event: 'erasure.claim_failed', err });
      return this.config.taskSweepS;
    }
  }

  private async carryOut(taken: TakenErasure): Promise<void> {
    const { id: erasure_id, api_key_id } = taken;
    try {
      const work = new ErasureWork(this.rows, taken, () => this.isStopping);
      if (taken.step === null && !(await this.round(work, taken))) {
        await this.rows.putOff(taken, ROUND_EVERY_S);
        return;
      }
      await this.finish(work, taken);
      this.logger.log({ event: 'erasure.finished', erasure_id, api_key_id });
    } catch (err) {
      if (!(err instanceof ErasureLost)) this.logger.warn({ event: 'erasure.failed', erasure_id, api_key_id, err });
      await this.rows.putOff(taken, err instanceof ErasureLost ? 0 : RETRY_AFTER_S);
    }
  }

  /**
   * Runs all of ROUND_STEPS, even after one has failed, and then throws the first error. Throws `ErasureLost` at once.
   * @returns whether the key has no data left and can get no more
   */
  private async round(work: ErasureWork, { is_quiet }: TakenErasure): Promise<boolean> {
    let isDone = is_quiet;
    const failures: unknown[] = [];
    for (const name of ROUND_STEPS) {
      try {
        if ((await this.steps.of(name)(work)) === 'waits') isDone = false;
      } catch (error) {
        if (error instanceof ErasureLost) throw error;
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
    return isDone && !work.hasErased;
  }

  private async finish(work: ErasureWork, taken: TakenErasure): Promise<void> {
    const first = taken.step === null ? 0 : LAST_STEPS.indexOf(taken.step);
    for (const name of LAST_STEPS.slice(first)) {
      await work.begin(name);
      await this.steps.of(name)(work);
    }
    await this.rows.finish(taken);
  }
}
