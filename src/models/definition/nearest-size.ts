import type { Size, SizeTable } from './sizes.ts';

/** Ratio and resolution of a table, with the pixels that they stand for. */
export interface NearestSize {
  /** As the model spells them. */
  ratio: string;
  resolution: string;
  size: Size;
}

/** A ratio further off than this is another picture, so it is refused. */
const MAX_RATIO_ERROR = Math.log(1.15);
const PIXELS = /^([0-9]{1,4})x([0-9]{1,4})$/;

/** Reads `1536x1024`: one to four digits each, and no side of zero. */
export function parsePixels(text: string): Size | null {
  const [, width, height] = PIXELS.exec(text) ?? [];
  return Number(width) > 0 && Number(height) > 0 ? { width: Number(width), height: Number(height) } : null;
}

export const toPixels = ({ width, height }: Size): string => `${width}x${height}`;

/**
 * The size of the table that comes nearest to the wanted one. It takes an exact match, else the nearest ratio, and of
 * that ratio the resolution with the nearest area. Distances are logarithms, so twice as wide is as far off as twice as
 * high. Of two equally near ratios it takes the wider one, of two resolutions the smaller one.
 * @returns null when every ratio is more than 15 % off
 */
export function nearestSize(sizes: SizeTable, wanted: Size): NearestSize | null {
  const all = Object.entries(sizes).flatMap(([ratio, row]) =>
    Object.entries(row).map(([resolution, size]): NearestSize => ({ ratio, resolution, size })),
  );
  const exact = all.find(({ size }) => size.width === wanted.width && size.height === wanted.height);
  if (exact) return exact;

  const wantedRatio = wanted.width / wanted.height;
  const ratios = Object.keys(sizes).toSorted(
    (a, b) => distance(valueOf(a), wantedRatio) - distance(valueOf(b), wantedRatio) || valueOf(b) - valueOf(a),
  );
  const [ratio] = ratios;
  if (ratio === undefined || distance(valueOf(ratio), wantedRatio) > MAX_RATIO_ERROR) return null;
  const [nearest] = all
    .filter((one) => one.ratio === ratio)
    .toSorted(
      (a, b) =>
        distance(areaOf(a.size), areaOf(wanted)) - distance(areaOf(b.size), areaOf(wanted)) ||
        areaOf(a.size) - areaOf(b.size),
    );
  return nearest ?? null;
}

/** `16:9` is 1.78. */
function valueOf(ratio: string): number {
  const [width = NaN, height = NaN] = ratio.split(':').map(Number);
  return width / height;
}

const areaOf = ({ width, height }: Size): number => width * height;

/** Rounded, so that two equal distances stay equal in floating point. */
const distance = (a: number, b: number): number => Math.round(1e9 * Math.abs(Math.log(a / b))) / 1e9;
