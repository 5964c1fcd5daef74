import { type InputImage, type ProviderRequest, UnsupportedRequest } from '../contract/provider.ts';
import { type Guidance, seedanceShot, type SeedanceShot } from '../families/seedance.ts';
import { dataUrl, encodedBytes } from '../wire/inline-image.ts';

/** Limits of an input image: ratio of width to height, pixels per side, bytes per file. */
const IMAGE = { ratio: [0.4, 2.5], side: [300, 6000], bytes: 30_000_000 } as const;
/** Ark accepts 64 MB per request; 1 MB of it is left for the text. */
const MAX_REQUEST_BYTES = 63 * 1024 * 1024;

/** @throws UnsupportedRequest for a request that Ark would refuse, so that another provider is tried without a call */
export function arkPlan(request: ProviderRequest) {
  const shot = seedanceShot(request, (n) => `@image${n}`);
  for (const image of shot.images) {
    const param = paramOf(image, request.images);
    const { width, height, size } = image;
    const ratio = width / height;
    if (ratio < IMAGE.ratio[0] || ratio > IMAGE.ratio[1]) {
      throw new UnsupportedRequest(param, 'Ark accepts images of 2:5 to 5:2.');
    }
    if (Math.min(width, height) < IMAGE.side[0] || Math.max(width, height) > IMAGE.side[1]) {
      throw new UnsupportedRequest(param, 'Ark accepts images of 300 to 6000 pixels per side.');
    }
    if (size >= IMAGE.bytes) throw new UnsupportedRequest(param, 'Ark accepts images of less than 30 MB.');
  }
  if (encodedBytes(shot.images) > MAX_REQUEST_BYTES) {
    throw new UnsupportedRequest('reference_image_url', 'Ark accepts 64 MB per request.');
  }
  return { count: 1, seeds: [shot.seed], shot, approximations: shot.approximations };
}

function paramOf(image: InputImage, { firstFrame, lastFrame }: ProviderRequest['images']): string {
  if (image === firstFrame) return 'first_frame_image_url';
  return image === lastFrame ? 'last_frame_image_url' : 'reference_image_url';
}

/** The role of each image in the body, in the order of `shot.images`. */
const ROLES: Readonly<Record<Guidance, readonly string[]>> = {
  text: [],
  first_frame: ['first_frame'],
  first_last: ['first_frame', 'last_frame'],
  references: ['reference_image', 'reference_image'],
};

/** The body of the create call. It states every value, because Ark's defaults may change. */
export function arkBody({ upstream }: ProviderRequest, shot: SeedanceShot): object {
  const { prompt, guidance, images, resolution, ratio, duration, seed, hasSound } = shot;
  return {
    model: upstream.model,
    content: [
      { type: 'text', text: prompt },
      ...images.map((image, at) => ({
        type: 'image_url',
        image_url: { url: dataUrl(image) },
        role: ROLES[guidance][at],
      })),
    ],
    resolution,
    ratio,
    duration,
    seed,
    generate_audio: hasSound,
    watermark: false,
  };
}
