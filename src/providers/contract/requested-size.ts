import { findModel } from '../../models/catalog.ts';
import { chooseSize, type Size, type SizeChoice, type SizeTable } from '../../models/definition/sizes.ts';
import { type ProviderRequest, UnsupportedRequest } from './provider.ts';

interface Options {
  /** Where the upstream's model makes other sizes than the model that the client named. */
  sizes?: SizeTable;
  /** Whether the upstream takes a size. */
  accepts?: ((size: Size) => boolean) | undefined;
}

/**
 * Ratio and pixels of a request, from its model's table. `auto` becomes the ratio nearest to the first reference image, or a
 * square.
 * @throws UnsupportedRequest for a ratio or resolution without a size
 */
export function requestedSize({ model, input, images }: ProviderRequest, options: Options = {}): SizeChoice {
  const { aspect_ratio: ratio, resolution } = input;
  const { sizes = findModel(model)?.sizes ?? {}, accepts } = options;
  const choice = chooseSize(sizes, { ratio, resolution, reference: images.references[0], accepts });
  if (choice) return choice;
  const param = ratio === 'auto' || Object.hasOwn(sizes, ratio) ? 'resolution' : 'aspect_ratio';
  throw new UnsupportedRequest(param, `There is no size for ${ratio} in ${resolution}.`);
}
