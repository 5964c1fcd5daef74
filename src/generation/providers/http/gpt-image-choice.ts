import type { Approximation } from '../../../tasks/task.entity.ts';
import { findModel } from '../../../models/catalog.ts';
import { ProviderError, type ProviderRequest, Unfit } from '../../provider.ts';
import { imageSize, type Size } from '../sandbox/sizes.ts';

export interface GptImageChoice {
  /** null: the model's own choice, which it makes in about 1K. */
  size: Size | null;
  approximations: Approximation[];
}

/**
 * Pixels of a gpt-image-2 picture where its provider takes pixels. The model's own `auto` decides on the size too, so in 2K
 * and 4K the ratio is chosen here: the nearest to the first reference image, without one to a square.
 * @param takes whether the provider takes this size
 * @throws Unfit
 */
export function gptImageChoice(
  { input, images }: ProviderRequest,
  takes: (size: Size) => boolean = () => true,
): GptImageChoice {
  const { aspect_ratio: requested, resolution } = input;
  if (requested === 'auto' && resolution === '1K') return { size: null, approximations: [] };
  const [reference = { width: 1, height: 1 }] = images.references;
  const sizes = (requested === 'auto' ? ratios() : [requested])
    .map((ratio) => ({ ratio, size: sizeOf(ratio, resolution) }))
    .filter(({ size }) => takes(size))
    .sort((a, b) => distance(a.size, reference) - distance(b.size, reference) || b.size.width - a.size.width);
  const [chosen] = sizes;
  if (!chosen) throw new Unfit('resolution', `There is no ${resolution} of ${requested}.`);
  const { ratio: used, size } = chosen;
  return { size, approximations: requested === used ? [] : [{ param: 'aspect_ratio', requested, used }] };
}

function sizeOf(aspect_ratio: string, resolution: string): Size {
  try {
    return imageSize('gpt-image-2', { prompt: '', aspect_ratio, resolution });
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    throw new Unfit(error.param ?? 'resolution', `There is no ${resolution} of ${aspect_ratio}.`);
  }
}

function ratios(): string[] {
  const values = findModel('gpt-image-2')?.parameters.properties.aspect_ratio?.enum ?? [];
  return values.filter((ratio) => ratio !== 'auto');
}

/** By the logarithm, so that twice as wide is as far off as twice as high; in thousandths, so that the two are really equal. */
const distance = (a: Size, b: Size): number =>
  Math.round(1000 * Math.abs(Math.log((a.width * b.height) / (a.height * b.width))));
