import { Injectable } from '@nestjs/common';

/** Answers about a model synchronously, from memory. */
export type AboutModel = (modelId: string) => boolean;

/**
 * The provider registry, which this folder must not import, registers here whether a model can be served now, whether
 * the sandbox serves it, and which parameters its provider takes.
 */
@Injectable()
export class ModelAvailability {
  private isAvailable: AboutModel | undefined;
  private isInSandbox: AboutModel | undefined;
  private isTaken: ((modelId: string, param: string) => boolean) | undefined;

  /** @throws Error on a second registration, because two sources could contradict each other */
  register(
    isAvailable: AboutModel,
    isInSandbox: AboutModel = () => false,
    isTaken: (modelId: string, param: string) => boolean = () => true,
  ): void {
    if (this.isAvailable) throw new Error('Model availability is already registered.');
    this.isAvailable = isAvailable;
    this.isInSandbox = isInSandbox;
    this.isTaken = isTaken;
  }

  /** Every model is available until a source is registered. */
  of(modelId: string): boolean {
    return this.isAvailable?.(modelId) ?? true;
  }

  /** Whether the sandbox, the built-in renderer, serves the model first. */
  inSandbox(modelId: string): boolean {
    return this.isInSandbox?.(modelId) ?? false;
  }

  /** Whether the provider that would serve the model first takes this parameter. */
  takes(modelId: string, param: string): boolean {
    return this.isTaken?.(modelId, param) ?? true;
  }
}
