import { median } from './report.ts';

/** One round: how much a second. */
type Round = () => Promise<number>;

/**
 * Alternates, so that whatever else the machine does hits both alike.
 * @returns the row of a report: the median of the rounds' ratios, then the two medians; above 1 the first is faster
 */
export async function compare<First extends string, Second extends string>(
  rounds: number,
  [first, roundOfFirst]: [First, Round],
  [second, roundOfSecond]: [Second, Round],
): Promise<{ ratio: number } & Record<First | Second, number>> {
  const [firsts, seconds]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    seconds.push(await roundOfSecond());
    firsts.push(await roundOfFirst());
  }
  const ratio = median(firsts.map((rate, round) => rate / (seconds[round] ?? Number.NaN)));
  const row = { ratio, [first]: median(firsts), [second]: median(seconds) };
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, brief(value)])) as never;
}

/** Three digits: more would be noise. */
export const brief = (value: number): number => Number(value.toPrecision(3));
