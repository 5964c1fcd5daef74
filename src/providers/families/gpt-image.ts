import type { Approximation } from '../../tasks/record/task.entity.ts';
import type { ProviderRequest } from '../contract/provider.ts';
import { findModel } from '../../models/catalog.ts';
import type { Size, SizeTable } from '../../models/definition/sizes.ts';
import { requestedSize } from '../contract/prepare-request.ts';

/**
 * The sizes for gpt-image-2 and its successors. A binding of the PROVIDERS file uses the table of gpt-image-2. A
 * binding of a declaration uses the table of its own model.
 */
export const gptImageOptions = ({ upstream }: ProviderRequest): { sizes?: SizeTable } =>
  upstream.declared ? {} : { sizes: findModel('gpt-image-2')?.sizes ?? {} };

export interface GptImageChoice {
  /** null: the model chooses a size of about 1K. */
  size: Size | null;
  approximations: Approximation[];
}

/**
 * The pixels of a gpt-image-2 image, for providers that accept pixels. If the model chooses the ratio, it also chooses
 * the size, about 1K. So for `auto` in 2K and 4K, the ratio is chosen here.
 * @param takes whether the provider accepts this size
 * @throws UnsupportedRequest
 */
export function gptImageChoice(request: ProviderRequest, takes?: (size: Size) => boolean): GptImageChoice {
  const { aspect_ratio: requested, resolution, size: exact } = request.input;
  if (exact !== undefined) return { size: requestedSize(request, { accepts: takes }).size, approximations: [] };
  if (requested === 'auto' && resolution === '1K') return { size: null, approximations: [] };
  const { ratio: used, size } = requestedSize(request, { ...gptImageOptions(request), accepts: takes });
  return { size, approximations: requested === used ? [] : [{ param: 'aspect_ratio', requested, used }] };
}
