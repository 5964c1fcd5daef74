import { type ResolvedInput, UnsupportedRequest } from '../provider.ts';

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

export interface ImageChoice {
  /** Of the model's own, never `auto`. */
  ratio: string;
  size: Size;
}

const SQUARE: Size = { width: 1, height: 1 };

/**
 * Ratio and pixels of a picture. `auto` is the model's ratio nearest to the first reference image, without one to a square; of
 * two as near, the wider.
 * @param takes whether its provider takes a size
 * @throws Unfit for a ratio or resolution without a size
 */
export function imageChoice(
  model: string,
  { aspect_ratio, resolution }: ResolvedInput,
  firstReference: Size = SQUARE,
  takes: (size: Size) => boolean = () => true,
): ImageChoice {
  const sizes = model === 'gpt-image-2' ? GPT_IMAGE_SIZES : GEMINI_IMAGE_SIZES;
  const [chosen] = (aspect_ratio === 'auto' ? Object.keys(sizes) : [aspect_ratio])
    .map((ratio) => ({ ratio, size: look(sizes, ratio, resolution) }))
    .filter(({ size }) => takes(size))
    .sort((a, b) => distance(a.size, firstReference) - distance(b.size, firstReference) || b.size.width - a.size.width);
  if (!chosen) throw new UnsupportedRequest('resolution', `There is no ${resolution} of ${aspect_ratio} here.`);
  return chosen;
}

/** @throws Unfit */
export function imageSize(model: string, input: ResolvedInput, firstReference?: Size): Size {
  return imageChoice(model, input, firstReference).size;
}

/**
 * Pixels of a video; the resolution in either letter case.
 * @throws Unfit for a ratio or resolution without a size
 */
export function videoSize(input: ResolvedInput): Size {
  return look(VIDEO_SIZES, input.aspect_ratio, input.resolution.toLowerCase());
}

function look(sizes: SizeTable, ratio: string, resolution: string): Size {
  const row = Object.hasOwn(sizes, ratio) ? sizes[ratio] : undefined;
  if (!row) throw new UnsupportedRequest('aspect_ratio', `There is no size for ${ratio}.`);
  const size = Object.hasOwn(row, resolution) ? row[resolution] : undefined;
  if (!size) throw new UnsupportedRequest('resolution', `There is no size for ${resolution}.`);
  return size;
}

/** By the logarithm, so that twice as wide is as far off as twice as high; in thousandths, so that the two are really equal. */
const distance = (a: Size, b: Size): number =>
  Math.round(1000 * Math.abs(Math.log((a.width * b.height) / (a.height * b.width))));

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
