import { Injectable } from '@nestjs/common';

/** Tells whether a provider stands ready for a model. Answers at once, from memory. */
export type IsAvailable = (modelId: string) => boolean;

/** Who serves a model is known further up (generation), which registers its knowledge here. */
@Injectable()
export class ModelAvailability {
  private isAvailable: IsAvailable | undefined;

  /** @throws Error when somebody else registered before: two answers would be none */
  register(isAvailable: IsAvailable): void {
    if (this.isAvailable) throw new Error('Somebody else already tells which models are available.');
    this.isAvailable = isAvailable;
  }

  of(modelId: string): boolean {
    return this.isAvailable?.(modelId) ?? true;
  }
}
