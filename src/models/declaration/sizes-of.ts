import type { PixelRule } from '../definition/pixel-rule.ts';
import { sizeTable, type SizeTable } from '../definition/sizes.ts';
import type { Declaration } from './declaration.ts';

type Sized = Pick<Declaration, 'kind' | 'sizes'>;

export function sizeTableOf({ sizes: { table } }: Sized): SizeTable {
  return table ? sizeTable(table.columns, table.rows) : {};
}

/** The default of `min_side`, unless `step` is larger. */
const MIN_SIDE = 16;

/**
 * The rule for the pixel sizes that a model takes; null if it takes only the sizes of its table. Videos need even
 * sides, because of H.264.
 */
export function pixelRuleOf({ kind, sizes: { pixels } }: Sized): PixelRule | null {
  if (!pixels) return null;
  const { step = kind === 'video' ? 2 : 1, min_side = Math.max(step, MIN_SIDE), max_side = 0, ...more } = pixels;
  return { step, min_side, max_side, ...more };
}

/** The parameters that a model has because of its `sizes`, even if its declaration does not list them. */
export const sizeParametersOf = ({ sizes: { table, pixels } }: Sized): string[] => [
  ...(pixels ? ['size'] : []),
  ...(table ? ['aspect_ratio', 'resolution'] : []),
];
