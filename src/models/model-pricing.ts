import { Injectable } from '@nestjs/common';
import type { ModelPricingView } from './model-pricing.view.ts';

/** The provider registry, which this folder must not import, registers here the operator's prices of models. */
@Injectable()
export class ModelPricing {
  private pricingOf: (modelId: string) => ModelPricingView | null = () => null;

  register(pricingOf: (modelId: string) => ModelPricingView | null): void {
    this.pricingOf = pricingOf;
  }

  /** @returns null if the model has no price */
  of(modelId: string): ModelPricingView | null {
    return this.pricingOf(modelId);
  }
}
