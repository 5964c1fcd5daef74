import { ACTIVE, type Model } from '../definition/model.ts';
import {
  count,
  imageFormat,
  imageFormatRule,
  imageUrls,
  oneOf,
  parametersOf,
  prompt,
} from '../definition/parameters.ts';
import { NANO_BANANA_SIZES } from './nano-banana-sizes.ts';

export const nanoBanana2: Model = {
  id: 'nano-banana-2',
  kind: 'image',
  owned_by: 'google',
  created: Date.UTC(2026, 10, 20) / 1000,
  description: 'Fast image model.',
  sizes: NANO_BANANA_SIZES,
  parameters: parametersOf(
    'nano-banana-2',
    {
      prompt: prompt(20_000),
      reference_images: imageUrls(14),
      aspect_ratio: oneOf(['auto', '21:9', '16:9', '3:2', '4:3', '1:1', '3:4', '2:3', '9:16'], {
        byDefault: 'auto',
        description: 'Width to height. "auto" leaves the choice to the model.',
      }),
      resolution: oneOf(['2K', '4K'], { byDefault: '2K', description: 'Size class of the image.' }),
      n: count({ max: 4 }),
      ...imageFormat,
    },
    imageFormatRule,
  ),
  lifecycle: ACTIVE,
};
