import { catalog } from '../../models/catalog.ts';
import type { Model } from '../../models/definition/model.ts';
import type { ProviderRegistry } from '../../providers/registry.ts';

/**
 * The bindings without a price, in words for the operator: their tasks would count as unpriced. Includes bindings that
 * have a price for only some requests, and says so.
 */
export function unpricedBindings(registry: ProviderRegistry): string[] {
  return catalog.models.flatMap((model) =>
    registry.bindingsOf(model).flatMap((binding) => {
      const requests = requestsOf(model);
      const priced = requests.filter(
        (input) =>
          registry.priceOf({
            provider: binding.name,
            model: model.id,
            upstreamModel: binding.upstream.model,
            input,
            approximations: [],
          }) !== null,
      );
      if (priced.length === requests.length) return [];
      return [`${model.id} at ${binding.name}${priced.length > 0 ? ' (in some sizes or qualities)' : ''}`];
    }),
  );
}

/** One request for each pair of resolution and quality. */
function requestsOf({ kind, parameters }: Model) {
  const valuesOf = (name: string) => (parameters.properties[name]?.enum ?? [undefined]) as (string | undefined)[];
  return valuesOf('resolution').flatMap((resolution) =>
    valuesOf('quality').map((quality) => ({
      resolution: resolution ?? '',
      ...(quality !== undefined && { quality }),
      ...(kind === 'video' && { duration: 1 }),
    })),
  );
}
