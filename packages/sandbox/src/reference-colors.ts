import sharp from 'sharp';
import { type Color, fromSrgb, mean, mix } from './color.ts';
import type { Palette } from './palette.ts';
import { UndecodableImage } from './render-errors.ts';
import type { SourceImage } from './render-order.ts';

/** Each image is reduced to this many rows of this many colours. */
const SIDE = 8;

/** The colours of images, row by row from the top. @throws UndecodableImage */
export async function sampleColors(images: readonly SourceImage[]): Promise<Color[][]> {
  const samples: Color[][] = [];
  // One image at a time, scaled down while it is decoded: sixteen decoded images of 33 megapixels would take 2 GB.
  for (const { path, param } of images) {
    try {
      const rgb = await sharp(path, { failOn: 'error' })
        .autoOrient()
        .flatten({ background: '#808080' })
        .resize({ width: SIDE, height: SIDE, fit: 'fill' })
        .toColourspace('srgb')
        .raw({ depth: 'uchar' })
        .toBuffer();
      samples.push(
        Array.from({ length: SIDE * SIDE }, (_, i) => fromSrgb(rgb[3 * i]!, rgb[3 * i + 1]!, rgb[3 * i + 2]!)),
      );
    } catch (cause) {
      throw new UndecodableImage(param, cause);
    }
  }
  return samples;
}

/**
 * The palette with the colours of images. The sky gets those of the upper half of the first image, the other layers
 * those of its lower half, and accents the most vivid ones of all images.
 */
export function colored(palette: Palette, samples: readonly Color[][]): Palette {
  const [first] = samples;
  if (!first) return palette;
  const rows = (from: number, to: number) => mean(first.slice(from * SIDE, to * SIDE));
  const vivid = samples.flat().toSorted((a, b) => b.c - a.c);
  const accent = vivid[0] as Color;
  const second =
    vivid.find((each) => hueDistance(each, accent) > 40 && each.c > 0.04) ?? mix(accent, palette.light, 0.5);
  return {
    ...palette,
    skyTop: tinted(palette.skyTop, rows(0, 2)),
    skyLow: tinted(palette.skyLow, rows(2, 4)),
    far: tinted(palette.far, rows(4, 6)),
    near: tinted(palette.near, rows(6, 8)),
    accent,
    second,
    light: mix(palette.light, accent, 0.2),
  };
}

/**
 * The colour `a` with almost the hue and chroma of `by`, a colour of an image. The lightness is the mean of both, so
 * that the scene keeps its depth.
 */
function tinted(a: Color, by: Color): Color {
  return { ...mix(a, by, 0.9), l: (a.l + by.l) / 2 };
}

const hueDistance = (a: Color, b: Color): number => Math.abs(((((a.h - b.h) % 360) + 540) % 360) - 180);
