import { Injectable } from '@nestjs/common';

/** Whether a provider can serve a model now. Answers synchronously, from memory. */
export type IsAvailable = (modelId: string) => boolean;

/** Lets the provider registry, which this folder must not import, supply the availability of models. */
@Injectable()
export class ModelAvailability {
  private isAvailable: IsAvailable | undefined;

  /** @throws Error on a second registration, because two sources could contradict each other */
  register(isAvailable: IsAvailable): void {
    if (this.isAvailable) throw new Error('Model availability is already registered.');
    this.isAvailable = isAvailable;
  }

  /** Every model is available until a source is registered. */
  of(modelId: string): boolean {
    return this.isAvailable?.(modelId) ?? true;
  }
}
