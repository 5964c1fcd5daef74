import { Injectable } from '@nestjs/common';
import type { Model } from '../../models/definition/model.ts';
import { imageUrlsOf } from '../../models/definition/parameters.ts';
import { prepareRequest } from '../../providers/contract/prepare-request.ts';
import { type ResolvedInput, UnsupportedRequest } from '../../providers/contract/provider.ts';
import { ProviderRegistry, type ReadyBinding } from '../../providers/registry.ts';
import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { CostBasis } from '../../tasks/record/task-usage.ts';
import { UsageTerms } from '../../tasks/record/usage-terms.ts';
import { NO_IMAGES } from '../images/reference-images.ts';

interface Cost {
  amount_micros: number;
  currency: string;
  basis: CostBasis;
}

/** What a generation will cost, by the prices that are in force now. */
@Injectable()
export class Costs {
  constructor(
    private readonly providers: ProviderRegistry,
    private readonly terms: UsageTerms,
  ) {}

  /**
   * The highest cost among the bindings that can serve the request. The amount is 0 and the basis `unpriced` if no
   * binding knows the price before the call.
   */
  of(model: Model, input: ResolvedInput): Cost {
    const amounts = this.providers.bindingsOf(model).flatMap((binding) => this.at(binding, model, input) ?? []);
    return {
      amount_micros: Math.max(0, ...amounts),
      currency: this.terms.currency,
      basis: amounts.length > 0 ? 'priced' : 'unpriced',
    };
  }

  /** @returns null when the binding cannot serve the request, or does not know the price before the call */
  private at(binding: ReadyBinding, model: Model, input: ResolvedInput): number | null {
    if (binding.credential !== null && binding.upstream.apiKey === null) return null;
    const approximations = approximationsAt(binding, model, input);
    if (approximations === null) return null;
    const { name: provider, upstream } = binding;
    const price = this.providers.priceOf({
      provider,
      model: model.id,
      upstreamModel: upstream.model,
      input,
      approximations,
    });
    return price?.full ?? null;
  }
}

/**
 * What the provider makes instead of the requested values, because this may change the price. Images are absent here,
 * because they are fetched later. A provider may refuse the request only because of that, so a refused request with
 * images counts as one without approximations.
 * @returns null when the provider refuses a request without images
 */
function approximationsAt(
  { provider, upstream }: ReadyBinding,
  model: Model,
  input: ResolvedInput,
): Approximation[] | null {
  const request = {
    taskId: '',
    model: model.id,
    kind: model.kind,
    input,
    images: NO_IMAGES,
    upstream,
    definition: model,
  };
  try {
    return prepareRequest(provider, request).approximations;
  } catch (error) {
    const isCertain = error instanceof UnsupportedRequest && imageUrlsOf(model, input).length === 0;
    return isCertain ? null : [];
  }
}
