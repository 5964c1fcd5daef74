/** The position of a picture in its frame. Scale 1 fits the frame; x and y move the centre, in pixels of the frame. */
export interface Placement {
  scale: number;
  x: number;
  y: number;
}

export const FIT: Placement = { scale: 1, x: 0, y: 0 };
const MAX_SCALE = 8;
const MIN_SCALE = 0.1;

/** Zooms around a point, measured from the centre of the frame. The part of the picture at that point stays there. */
export function zoomAt(placement: Placement, factor: number, at = { x: 0, y: 0 }): Placement {
  const scale = Math.min(MAX_SCALE, Math.max(MIN_SCALE, placement.scale * factor));
  const real = scale / placement.scale;
  return { scale, x: at.x - (at.x - placement.x) * real, y: at.y - (at.y - placement.y) * real };
}

/** Limits the movement so that a part of the picture stays visible. */
export function bounded({ scale, x, y }: Placement, frame: { width: number; height: number }): Placement {
  const reach = (side: number) => Math.max(0, (side * scale - side) / 2 + side * 0.25 * Number(scale > 1));
  const clamp = (value: number, limit: number) => Math.min(limit, Math.max(-limit, value));
  return { scale, x: clamp(x, reach(frame.width)), y: clamp(y, reach(frame.height)) };
}
