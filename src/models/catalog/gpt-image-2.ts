import { ACTIVE, type Model } from '../model.ts';
import { count, imageUrls, oneOf, parametersOf, prompt } from '../parameters.ts';

/** General purpose. */
export const gptImage2: Model = {
  id: 'gpt-image-2',
  kind: 'image',
  owned_by: 'openai',
  created: Date.UTC(2026, 10, 20) / 1000,
  description: 'General-purpose image model; the first recommendation.',
  parameters: parametersOf('gpt-image-2', {
    prompt: prompt(32_000),
    reference_images: imageUrls(16),
    aspect_ratio: oneOf(['auto', '1:1', '5:4', '9:16', '21:9', '16:9', '3:2', '4:3', '4:5', '3:4', '2:3'], {
      byDefault: 'auto',
      description: 'Width to height; "auto" leaves the choice to the model.',
    }),
    resolution: oneOf(['1K', '2K', '4K'], { byDefault: '1K', description: 'Size class of the image.' }),
    n: count({ max: 10 }),
  }),
  lifecycle: ACTIVE,
};
