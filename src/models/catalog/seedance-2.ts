import { ACTIVE, type Model } from '../definition/model.ts';
import { imageUrl, oneOf, parametersOf, prompt, seconds, when } from '../definition/parameters.ts';
import { videoSizes } from './video-sizes.ts';

export const seedance2: Model = {
  id: 'seedance-2',
  kind: 'video',
  owned_by: 'bytedance',
  created: Date.UTC(2026, 10, 20) / 1000,
  description: 'Standard video model of the China region.',
  sizes: videoSizes('720p', '1080p'),
  parameters: parametersOf(
    'seedance-2',
    {
      prompt: prompt(3_500),
      first_frame_image_url: imageUrl('http(s) URL of a still JPEG, PNG or WebP image for the video to start from.'),
      reference_image_url: imageUrl(
        'http(s) URL of a still JPEG, PNG or WebP image to follow; not with reference_mode "first_frame".',
      ),
      reference_mode: oneOf(['omni', 'first_frame'], {
        byDefault: 'omni',
        description: 'How the images guide the video; "first_frame" needs first_frame_image_url.',
      }),
      aspect_ratio: oneOf(['21:9', '16:9', '4:3', '1:1', '3:4', '9:16'], {
        byDefault: '21:9',
        description: 'Width to height.',
      }),
      resolution: oneOf(['720p', '1080p'], {
        byDefault: '720p',
        description: 'Size class of the video, with a lower-case p.',
      }),
      duration: seconds({ min: 4, max: 15, byDefault: 5 }),
    },
    // The mode takes exactly one image; no provider accepts a second one.
    when('reference_mode', 'first_frame', { needs: 'first_frame_image_url', excludes: 'reference_image_url' }),
  ),
  // The model has a field of its own for references, so an image in this field is a first frame in every mode.
  guidance: { loneFirstFrame: { omni: { as: 'first_frame' }, first_frame: { as: 'first_frame' } } },
  lifecycle: ACTIVE,
};
