import { median } from './report.ts';

/** A figure that is this much worse is a regression, unless noise explains it. */
const MOST_LOSS = 0.1;
/** Three standard deviations: one of 700 runs without any change passes them by chance. */
const SIGMAS = 3;

/** The rounds of one figure. Above 1 this build needs less processor time. */
export interface Rounds {
  /** Base / this build. */
  base: number[];
  /** A second process of this build / this build: what differs from 1 is noise. */
  control: number[];
}

export interface Verdict {
  /** The median of the rounds. */
  ratio: number;
  control: number;
  /** Below it the build counts as slower. */
  bound: number;
  slower: boolean;
}

/**
 * Slower is a build of which both processes need more than the bound allows: two processes of one build differ by up to
 * a tenth for as long as they run, which no number of rounds averages out. Compares logarithms, in which half and twice
 * are equally far from 1.
 */
export function verdictOn({ base, control }: Rounds): Verdict {
  const logs = control.map(Math.log);
  // A median of n values scatters by 1.25 / sqrt(n) of one value, and both builds scatter.
  const sigma = (deviation(logs) * 1.25) / Math.sqrt(logs.length);
  const bound = Math.exp(-Math.max(-Math.log(1 - MOST_LOSS), SIGMAS * sigma));
  const ratio = median(base);
  const ofControl = median(base.map((own, at) => own / control[at]!));
  return { ratio, control: median(control), bound, slower: Math.max(ratio, ofControl) < bound };
}

function deviation(values: number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}
