import type { Load } from './load.ts';
import { median } from './report.ts';

/** A rate, or a load with more figures. */
type Measured = number | Load;

/**
 * The two sides alternate, and each round changes their order, so that other work of the machine affects both alike.
 * One round before the others is not counted: it compiles the code of both and fills their pools.
 * @returns the row of a report: the median of the rounds' ratios, then the two medians; above 1 the first is faster.
 *   For loads it also has the work of a request (above 1 the first needs less) and the median time
 */
export async function compare<First extends string, Second extends string>(
  rounds: number,
  [first, roundOfFirst]: [First, () => Promise<Measured>],
  [second, roundOfSecond]: [Second, () => Promise<Measured>],
): Promise<{ ratio: number } & Record<First | Second, number>> {
  const pairs: [Measured, Measured][] = [];
  await roundOfSecond();
  await roundOfFirst();
  for (let round = 0; round < rounds; round += 1) {
    const early = round % 2 === 0 ? await roundOfFirst() : undefined;
    const other = await roundOfSecond();
    pairs.push([early ?? (await roundOfFirst()), other]);
  }
  const of = (figure: keyof Load) => {
    const figures = pairs.map((pair) => pair.map((one) => figureOf(one, figure)) as [number, number]);
    return {
      ratio: median(figures.map(([one, other]) => one / other)),
      one: median(figures.map(([one]) => one)),
      other: median(figures.map(([, other]) => other)),
    };
  };
  const [rate, work, ms] = [of('rate'), of('work'), of('ms')];
  const row = {
    ratio: rate.ratio,
    [first]: rate.one,
    [second]: rate.other,
    work_ratio: 1 / work.ratio,
    [`${first}_work`]: work.one,
    [`${second}_work`]: work.other,
    [`${first}_p50_ms`]: ms.one,
    [`${second}_p50_ms`]: ms.other,
  };
  const known = Object.entries(row).filter(([, value]) => !Number.isNaN(value));
  return Object.fromEntries(known.map(([name, value]) => [name, brief(value)])) as never;
}

const figureOf = (measured: Measured, figure: keyof Load): number => {
  if (typeof measured !== 'number') return measured[figure];
  return figure === 'rate' ? measured : Number.NaN;
};

/** Rounds to three significant digits, because more would be noise. */
export const brief = (value: number): number => Number(value.toPrecision(3));
