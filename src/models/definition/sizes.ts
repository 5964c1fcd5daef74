/** Pixels of a picture or a video. */
export interface Size {
  width: number;
  height: number;
}

/** Pixels by ratio, then by resolution, both as the model's parameters spell them: `sizes['16:9']['1080P']`. */
export type SizeTable = Readonly<Record<string, Readonly<Record<string, Size>>>>;

/**
 * @param resolutions names of the columns, as the model spells them
 * @param rows ratio to pixels; cells beyond the last name are left out
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
  /** One of the table's ratios, never `auto`. */
  ratio: string;
  size: Size;
}

export interface SizeRequest {
  /** A ratio of the table, or `auto` for the one nearest to `reference`. */
  ratio: string;
  resolution: string;
  /** A square when absent. Only its ratio counts. */
  reference?: Size | undefined;
  /** Whether the provider can make a size; all of them when absent. */
  accepts?: ((size: Size) => boolean) | undefined;
}

const SQUARE: Size = { width: 1, height: 1 };

/**
 * Looks up ratio and pixels. Of two ratios equally near, `auto` takes the wider one.
 * @returns null when the table has no such ratio or resolution, or every match is refused
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
 * How far apart two ratios are, in thousandths of the natural logarithm: a ratio twice as wide and a ratio twice
 * as high are equally far apart. Rounding keeps these two distances equal in floating point.
 */
function ratioDistance(a: Size, b: Size): number {
  return Math.round(1000 * Math.abs(Math.log((a.width * b.height) / (a.height * b.width))));
}

/** A key of the client's may name a member of Object.prototype. */
function own<T>(record: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return record && Object.hasOwn(record, key) ? record[key] : undefined;
}
