import { parseArgs } from 'node:util';

/** What one run does. All times are seconds. */
export interface Plan {
  seconds: number;
  seed: number;
  /** Creates per second. */
  rate: number;
  /** Where samples, report, graph and the logs of the processes are written. */
  folder: string;
  graph: string;
  /** Set so short that everything is purged many times within the run. */
  fileRetentionS: number;
  taskRetentionS: number;
  idempotencyTtlS: number;
  imageDeadlineS: number;
  videoDeadlineS: number;
  sampleEveryS: number;
  /** Between the end of one fault and the next. */
  faultEveryS: number;
}

/**
 * A run shorter than this is a trial of the test itself: processes still grow for reasons of their own, so growth is
 * not judged.
 */
export const LONG_ENOUGH_S = 30 * 60;

export function readPlan(): Plan {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: process.env.SOAK_MINUTES ?? '120' },
      seed: { type: 'string', default: process.env.SOAK_SEED ?? String(Date.now() % 1e6) },
      rate: { type: 'string', default: process.env.SOAK_RATE ?? '3' },
      out: { type: 'string', default: process.env.SOAK_OUT ?? '/tmp/darkroom-soak' },
      graph: { type: 'string', default: '' },
    },
  });
  const seconds = Number(values.minutes) * 60;
  const isShort = seconds < LONG_ENOUGH_S;
  return {
    seconds,
    seed: Number(values.seed),
    rate: Number(values.rate),
    folder: values.out,
    graph: values.graph || `${values.out}/soak.svg`,
    fileRetentionS: isShort ? 30 : 180,
    taskRetentionS: isShort ? 150 : 600,
    idempotencyTtlS: isShort ? 60 : 300,
    imageDeadlineS: 240,
    videoDeadlineS: 240,
    sampleEveryS: isShort ? 5 : 15,
    faultEveryS: isShort ? 10 : 40,
  };
}

/** A random generator with a seed, so that a run can be repeated (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
