/**
 * A colour in OKLCH: lightness 0 to 1, chroma 0 to about 0.3, hue in degrees. OKLCH follows human perception, so that
 * mixed colours look natural.
 */
export interface Color {
  l: number;
  c: number;
  h: number;
}

export const color = (l: number, c: number, h: number): Color => ({ l, c, h });

/**
 * Mixes two colours in a straight line through OKLab: between red and green lies brown, not yellow.
 * @param share 0 is `a`, 1 is `b`
 */
export function mix(a: Color, b: Color, share: number): Color {
  const [ax, ay] = [a.c * Math.cos(radians(a.h)), a.c * Math.sin(radians(a.h))];
  const [bx, by] = [b.c * Math.cos(radians(b.h)), b.c * Math.sin(radians(b.h))];
  const x = ax + (bx - ax) * share;
  const y = ay + (by - ay) * share;
  return { l: a.l + (b.l - a.l) * share, c: Math.hypot(x, y), h: (Math.atan2(y, x) * 180) / Math.PI };
}

const radians = (degrees: number) => (degrees * Math.PI) / 180;

export function mean(colors: readonly Color[]): Color {
  const [first = color(0.5, 0, 0), ...others] = colors;
  return others.reduce((sum, next, i) => mix(sum, next, 1 / (i + 2)), first);
}

export const lighter = (a: Color, by: number): Color => ({ ...a, l: Math.min(0.98, Math.max(0.05, a.l + by)) });

/** The colour as CSS for a canvas. Channels outside of sRGB are clipped. */
export function css(a: Color, alpha = 1): string {
  const [r, g, b] = toSrgb(a);
  return `rgba(${r},${g},${b},${alpha})`;
}

// Uses Björn Ottosson's OKLab matrices (public domain).
function toSrgb({ l, c, h }: Color): [number, number, number] {
  const a = c * Math.cos(radians(h));
  const b = c * Math.sin(radians(h));
  const long = (l + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const medium = (l - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (l - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    channel(4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short),
    channel(-1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short),
    channel(-0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short),
  ];
}

/** @param r @param g @param b 0 to 255 */
export function fromSrgb(r: number, g: number, b: number): Color {
  const [red, green, blue] = [r, g, b].map(linearOf) as [number, number, number];
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  const x = 1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short;
  const y = 0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short;
  const l = 0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short;
  return { l, c: Math.hypot(x, y), h: (Math.atan2(y, x) * 180) / Math.PI };
}

function linearOf(channel: number): number {
  const value = channel / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function channel(linear: number): number {
  const value = linear <= 0.0031308 ? 12.92 * linear : 1.055 * linear ** (1 / 2.4) - 0.055;
  return Math.round(255 * Math.min(1, Math.max(0, value)));
}
