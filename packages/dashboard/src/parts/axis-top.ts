const STEPS = [1, 2, 4, 6, 8, 10];

/** The end of an axis: a round number that is at least the highest value, and never 0. */
export function axisTop(highest: number, whole: boolean): number {
  if (highest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(highest));
  const step = STEPS.find((each) => each * power >= highest * (1 - Number.EPSILON)) ?? 10;
  return whole ? Math.max(1, Math.ceil(step * power)) : step * power;
}
