import { ProviderError, type ResolvedInput } from '../../provider.ts';

export interface Size {
  width: number;
  height: number;
}

type SizeTable = Record<string, Record<string, Size>>;

// gpt-image-2 takes any size in multiples of 16 up to 3840 and 8,294,400 pixels; these are of exactly the ratio.
const GPT_IMAGE_SIZES = table(
  {
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
  },
  ['1K', '2K', '4K'],
);

// What Gemini's image models make of imageSize and aspectRatio; every other image model of ours is drawn in these too.
const GEMINI_IMAGE_SIZES = table(
  {
    '1:1': ['2048x2048', '4096x4096'],
    '2:3': ['1696x2528', '3392x5056'],
    '3:2': ['2528x1696', '5056x3392'],
    '3:4': ['1792x2400', '3584x4800'],
    '4:3': ['2400x1792', '4800x3584'],
    '9:16': ['1536x2752', '3072x5504'],
    '16:9': ['2752x1536', '5504x3072'],
    '21:9': ['3168x1344', '6336x2688'],
  },
  ['2K', '4K'],
);

// 720p and 1080p are the sizes of Ark's Seedance 2.0; in 4K the longest side is 3840 and both are even, as H.264 4:2:0 needs.
const VIDEO_SIZES = table(
  {
    '16:9': ['1280x720', '1920x1080', '3840x2160'],
    '4:3': ['1112x834', '1664x1248', '3840x2880'],
    '1:1': ['960x960', '1440x1440', '3840x3840'],
    '3:4': ['834x1112', '1248x1664', '2880x3840'],
    '9:16': ['720x1280', '1080x1920', '2160x3840'],
    '21:9': ['1470x630', '2206x946', '3840x1646'],
  },
  ['720p', '1080p', '4k'],
);

/**
 * Pixels of a picture. `auto` is the model's ratio nearest to the first reference image, without one a square.
 * @throws ProviderError provider_rejected for a ratio or resolution the sandbox cannot draw
 */
export function imageSize(model: string, input: ResolvedInput, firstReference?: Size): Size {
  const sizes = model === 'gpt-image-2' ? GPT_IMAGE_SIZES : GEMINI_IMAGE_SIZES;
  const ratio =
    input.aspect_ratio !== 'auto' ? input.aspect_ratio : firstReference ? nearest(sizes, firstReference) : '1:1';
  return look(sizes, ratio, input.resolution);
}

/**
 * Pixels of a video; the resolution in either letter case.
 * @throws ProviderError provider_rejected for a ratio or resolution the sandbox cannot draw
 */
export function videoSize(input: ResolvedInput): Size {
  return look(VIDEO_SIZES, input.aspect_ratio, input.resolution.toLowerCase());
}

function look(sizes: SizeTable, ratio: string, resolution: string): Size {
  const row = Object.hasOwn(sizes, ratio) ? sizes[ratio] : undefined;
  if (!row) throw new ProviderError('provider_rejected', { param: 'aspect_ratio' });
  const size = Object.hasOwn(row, resolution) ? row[resolution] : undefined;
  if (!size) throw new ProviderError('provider_rejected', { param: 'resolution' });
  return size;
}

/** By the logarithm, so that twice as wide is as far off as twice as high. */
function nearest(sizes: SizeTable, image: Size): string {
  const distance = (ratio: string) => {
    const [width = 1, height = 1] = ratio.split(':').map(Number);
    return Math.abs(Math.log(image.width / image.height / (width / height)));
  };
  return Object.keys(sizes).reduce((best, ratio) => (distance(ratio) < distance(best) ? ratio : best));
}

function table(rows: Record<string, string[]>, resolutions: string[]): SizeTable {
  const size = (text: string): Size => {
    const [width = 0, height = 0] = text.split('x').map(Number);
    return { width, height };
  };
  return Object.fromEntries(
    Object.entries(rows).map(([ratio, cells]) => [
      ratio,
      Object.fromEntries(cells.map((cell, i) => [resolutions[i] ?? '', size(cell)])),
    ]),
  );
}
