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
import { sizeTable } from '../definition/sizes.ts';

export const gptImage2: Model = {
  id: 'gpt-image-2',
  kind: 'image',
  owned_by: 'openai',
  created: Date.UTC(2026, 10, 20) / 1000,
  description: 'General-purpose image model; the first recommendation.',
  // The model takes any size in multiples of 16, up to 3840 a side and 8,294,400 pixels. These have exactly the ratio.
  sizes: sizeTable(['1K', '2K', '4K'], {
    '1:1': ['1024x1024', '2048x2048', '2880x2880'],
    '5:4': ['1280x1024', '1920x1536', '3200x2560'],
    '4:5': ['1024x1280', '1536x1920', '2560x3200'],
    '3:2': ['1536x1024', '2016x1344', '3504x2336'],
    '2:3': ['1024x1536', '1344x2016', '2336x3504'],
    '4:3': ['1280x960', '2048x1536', '3264x2448'],
    '3:4': ['960x1280', '1536x2048', '2448x3264'],
    '16:9': ['1536x864', '2048x1152', '3840x2160'],
    '9:16': ['864x1536', '1152x2048', '2160x3840'],
    '21:9': ['1568x672', '2688x1152', '3808x1632'],
  }),
  parameters: parametersOf(
    'gpt-image-2',
    {
      prompt: prompt(32_000),
      reference_images: imageUrls(16),
      aspect_ratio: oneOf(['auto', '1:1', '5:4', '9:16', '21:9', '16:9', '3:2', '4:3', '4:5', '3:4', '2:3'], {
        byDefault: 'auto',
        description: 'Width to height. "auto" leaves the choice to the model.',
      }),
      resolution: oneOf(['1K', '2K', '4K'], { byDefault: '1K', description: 'Size class of the image.' }),
      n: count({ max: 10 }),
      quality: oneOf(['auto', 'low', 'medium', 'high'], {
        byDefault: 'auto',
        description: 'How much work the model puts into an image. "auto" leaves the choice to the model.',
      }),
      ...imageFormat,
    },
    imageFormatRule,
  ),
  lifecycle: ACTIVE,
};
