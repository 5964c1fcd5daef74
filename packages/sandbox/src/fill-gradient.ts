import type { SKRSContext2D } from '@napi-rs/canvas';

/** A row of pixels and its colour in CSS. */
export type RowColor = readonly [row: number, color: string];

/**
 * Fills a rectangle with a vertical gradient, one band between each two neighbouring colours. Skia paints a gradient of
 * two colours in a quarter of the time of one with three. The context must not be scaled or rotated: otherwise a band
 * would begin within a row of pixels.
 * @param colors from top to bottom, at least two; the first and last also fill what is above and below them
 */
export function fillGradient(
  context: SKRSContext2D,
  area: { x: number; y: number; width: number; height: number },
  colors: readonly RowColor[],
): void {
  let top = area.y;
  for (const [i, [row, color]] of colors.entries()) {
    const next = colors[i + 1];
    if (!next) return;
    const bottom = i === colors.length - 2 ? area.y + area.height : Math.round(next[0]);
    const gradient = context.createLinearGradient(0, row, 0, next[0]);
    gradient.addColorStop(0, color);
    gradient.addColorStop(1, next[1]);
    context.fillStyle = color === next[1] ? color : gradient;
    context.fillRect(area.x, top, area.width, bottom - top);
    top = bottom;
  }
}
