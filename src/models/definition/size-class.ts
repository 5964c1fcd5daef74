import { parsePixels } from './nearest-size.ts';
import type { Size, SizeTable } from './sizes.ts';

/** The resolution that a request counts as: its own, or of exact pixels that of the nearest area, of two the larger. */
export function resolutionOf(
  sizes: SizeTable,
  { size, resolution }: { size?: unknown; resolution?: unknown },
): string | undefined {
  if (typeof resolution === 'string') return resolution;
  const wanted = typeof size === 'string' ? parsePixels(size) : null;
  return wanted ? nearestArea(sizes, areaOf(wanted)) : undefined;
}

function nearestArea(sizes: SizeTable, area: number): string | undefined {
  const cells = Object.values(sizes).flatMap((row) => Object.entries(row));
  const [nearest] = cells.toSorted(
    ([, a], [, b]) => distance(areaOf(a), area) - distance(areaOf(b), area) || areaOf(b) - areaOf(a),
  );
  return nearest?.[0];
}

const areaOf = ({ width, height }: Size): number => width * height;

/** Rounded, so that two equal distances stay equal in floating point. */
const distance = (a: number, b: number): number => Math.round(1e9 * Math.abs(Math.log(a / b))) / 1e9;
