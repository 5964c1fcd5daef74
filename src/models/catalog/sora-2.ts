import { ACTIVE, type Model } from '../definition/model.ts';
import { imageUrl, oneOf, parametersOf, prompt, seconds } from '../definition/parameters.ts';
import { videoSizes } from './video-sizes.ts';

export const sora2: Model = {
  id: 'sora-2',
  kind: 'video',
  owned_by: 'openai',
  created: Date.UTC(2026, 10, 20) / 1000,
  description: 'Standard video model of the Global region.',
  sizes: videoSizes('720P', '1080P', '4K'),
  parameters: parametersOf('sora-2', {
    prompt: prompt(32_000),
    first_frame_image_url: imageUrl('http(s) URL of a still JPEG, PNG or WebP image for the video to start from.'),
    reference_mode: oneOf(['omni', 'first_last', 'multi_frame'], {
      byDefault: 'omni',
      description: 'How the image guides the video.',
    }),
    aspect_ratio: oneOf(['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'], {
      byDefault: '16:9',
      description: 'Width to height.',
    }),
    resolution: oneOf(['720P', '1080P', '4K'], {
      byDefault: '1080P',
      description: 'Size class of the video, with a capital P.',
    }),
    duration: seconds({ min: 1, max: 20, byDefault: 5 }),
  }),
  guidance: {
    loneFirstFrame: {
      omni: { as: 'reference' },
      first_last: { as: 'first_frame', nearest: 'first_frame' }, // no field carries a last frame
      multi_frame: { as: 'reference', nearest: 'omni' }, // no field carries further key frames
    },
  },
  lifecycle: ACTIVE,
};
