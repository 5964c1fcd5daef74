/** Width and height of a picture or a video, in pixels. */
export interface Size {
  width: number;
  height: number;
}

/** Pixels by ratio, then by resolution, both as the model's parameters spell them: `sizes['16:9']['1080P']`. */
export type SizeTable = Readonly<Record<string, Readonly<Record<string, Size>>>>;

/**
 * @param resolutions names of the columns, as the model spells them
 * @param rows pixels by ratio; cells without a column name are left out
 */
export function sizeTable(
  resolutions: readonly string[],
  rows: Readonly<Record<string, readonly string[]>>,
): SizeTable {
  const byResolution = (cells: readonly string[]) =>
    Object.fromEntries(resolutions.map((resolution, i) => [resolution, parseSize(cells[i] ?? '')]));
  return Object.fromEntries(Object.entries(rows).map(([ratio, cells]) => [ratio, byResolution(cells)]));
}

function parseSize(text: string): Size {
  const [width, height] = text.split('x').map(Number);
  if (!width || !height) throw new Error(`A size table needs width x height in every cell, not "${text}".`);
  return { width, height };
}

export interface SizeChoice {
  /**
   * A ratio of the table, never `auto`. If the client asked for exact pixels, it is the text of these pixels, such as
   * `1024x768`.
   */
  ratio: string;
  size: Size;
}

export interface SizeRequest {
  /** A ratio of the table, or `auto` for the one nearest to `reference`. */
  ratio: string;
  resolution: string;
  /** The image that `auto` follows. Only its ratio counts. Missing: a square. */
  reference?: Size | undefined;
  /** Whether the provider can make a size; absent if it can make all. */
  accepts?: ((size: Size) => boolean) | undefined;
}

const SQUARE: Size = { width: 1, height: 1 };

/**
 * Looks up ratio and pixels. Of two ratios equally near, `auto` takes the wider one.
 * @returns null when the table has no such ratio or resolution, or `accepts` refuses every match
 */
export function chooseSize(
  sizes: SizeTable,
  { ratio, resolution, reference = SQUARE, accepts = () => true }: SizeRequest,
): SizeChoice | null {
  const candidates: SizeChoice[] = [];
  for (const candidate of ratio === 'auto' ? Object.keys(sizes) : [ratio]) {
    const size = own(own(sizes, candidate), resolution);
    if (size && accepts(size)) candidates.push({ ratio: candidate, size });
  }
  candidates.sort(
    (a, b) => ratioDistance(a.size, reference) - ratioDistance(b.size, reference) || b.size.width - a.size.width,
  );
  return candidates[0] ?? null;
}

/**
 * How far apart two ratios are, in thousandths of the natural logarithm: a ratio twice as wide and one twice as high
 * are equally far from a given ratio. Rounding keeps these two distances equal in floating point.
 */
function ratioDistance(a: Size, b: Size): number {
  return Math.round(1000 * Math.abs(Math.log((a.width * b.height) / (a.height * b.width))));
}

/** Own properties only, because a client may name a member of Object.prototype. */
function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}

/** Ratio and resolution of a table, with the pixels that they stand for. */
export interface NearestSize {
  /** Ratio and resolution as the model spells them. */
  ratio: string;
  resolution: string;
  size: Size;
}

/**
 * A ratio that differs by more than this would make another picture, so it is refused. The difference is a logarithm.
 */
const MAX_RATIO_ERROR = Math.log(1.15);
const PIXELS = /^([0-9]{1,4})x([0-9]{1,4})$/;

/** Reads `1536x1024`: one to four digits each, and no side of zero. */
export function parsePixels(text: string): Size | null {
  const [, width, height] = PIXELS.exec(text) ?? [];
  return Number(width) > 0 && Number(height) > 0 ? { width: Number(width), height: Number(height) } : null;
}

export const toPixels = ({ width, height }: Size): string => `${width}x${height}`;

/**
 * The size of the table that is nearest to the wanted one. This is an exact match, if the table has one. Otherwise it
 * is the resolution with the nearest area, among those of the nearest ratio. Distances are logarithms, so twice as wide
 * is as far off as twice as high. Of two equally near ratios the wider one counts, of two equally near resolutions the
 * smaller one.
 * @returns null when every ratio differs by more than a factor of 1.15
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

/** Width divided by height: 1.78 for `16:9`. */
function valueOf(ratio: string): number {
  const [width = NaN, height = NaN] = ratio.split(':').map(Number);
  return width / height;
}

const areaOf = ({ width, height }: Size): number => width * height;

/** Rounded, so that two equal distances stay equal in floating point. */
const distance = (a: number, b: number): number => Math.round(1e9 * Math.abs(Math.log(a / b))) / 1e9;

/**
 * The resolution that a request counts as. A size counts as the resolution with the nearest area in the table; of two
 * equally near resolutions, the larger one counts.
 * @returns undefined when the request has neither a resolution nor a size, or when the table is empty
 */
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
