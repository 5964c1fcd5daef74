import { median } from './report.ts';

/** A figure that lost this share is a regression, unless noise explains it. */
const MOST_LOSS = 0.1;
/** Three standard deviations: without any change, one of 700 runs is beyond them by chance. */
const SIGMAS = 3;

/** The figures of all rounds. Above 1 this build needs less processor time. */
export interface Rounds {
  /** The processor time of the base / that of this build. */
  base: number[];
  /** The processor time of a second process of this build / that of this build. A difference from 1 is noise. */
  control: number[];
}

export interface Verdict {
  /** The median of the rounds. */
  ratio: number;
  control: number;
  /** A ratio below it means that the build is slower. */
  bound: number;
  slower: boolean;
}

/**
 * A build is slower only if both its processes need more than the bound allows. The reason: two processes of one build
 * differ by up to a tenth for as long as they run, which no number of rounds averages out. Compares logarithms, in
 * which half and twice are equally far from 1.
 */
export function verdictOn({ base, control }: Rounds): Verdict {
  const logs = control.map(Math.log);
  // The median of n values has 1.25 / sqrt(n) of the deviation of one value. Both builds deviate.
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
