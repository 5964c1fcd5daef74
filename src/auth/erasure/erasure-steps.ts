import { Injectable } from '@nestjs/common';
import { LAST_STEPS, ROUND_STEPS, type StepName } from './erasure-step.ts';
import type { ErasureWork } from './erasure-work.ts';

/**
 * Erases one kind of the data of an API key, in pieces. Each piece is one transaction. If the process is killed between
 * two pieces, the step is called again.
 * @returns `waits` when something must not be erased yet, so that another round is needed
 */
export type ErasureStep = (work: ErasureWork) => Promise<'done' | 'waits'>;

/** Each module registers how it erases the data that it owns. */
@Injectable()
export class ErasureSteps {
  private readonly steps = new Map<StepName, ErasureStep>();

  register(name: StepName, step: ErasureStep): void {
    this.steps.set(name, step);
  }

  of(name: StepName): ErasureStep {
    const step = this.steps.get(name);
    if (!step) throw new Error(`No room erases "${name}".`);
    return step;
  }

  /** Throws if a step is missing: an erasure that finished without it would be a false promise. */
  assertComplete(): void {
    for (const name of [...ROUND_STEPS, ...LAST_STEPS]) this.of(name);
  }
}
