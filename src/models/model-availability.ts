import { Injectable } from '@nestjs/common';

/** Answers about a model synchronously, from memory. */
export type AboutModel = (modelId: string) => boolean;

/**
 * Lets the provider registry, which this folder must not import, supply whether a model can be served now, and whether
 * the sandbox serves it.
 */
@Injectable()
export class ModelAvailability {
  private isAvailable: AboutModel | undefined;
  private isInSandbox: AboutModel | undefined;

  /** @throws Error on a second registration, because two sources could contradict each other */
  register(isAvailable: AboutModel, isInSandbox: AboutModel = () => false): void {
    if (this.isAvailable) throw new Error('Model availability is already registered.');
    this.isAvailable = isAvailable;
    this.isInSandbox = isInSandbox;
  }

  /** Every model is available until a source is registered. */
  of(modelId: string): boolean {
    return this.isAvailable?.(modelId) ?? true;
  }

  /** Whether the built-in renderer serves the model first. */
  inSandbox(modelId: string): boolean {
    return this.isInSandbox?.(modelId) ?? false;
  }
}
