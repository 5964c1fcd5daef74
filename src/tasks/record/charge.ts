import type { Ending } from './ending.ts';
import type { StoredOutput } from './task.entity.ts';
import type { CostBasis, RunUsage, StoredUsage, Tokens } from './task-usage.ts';

/**
 * What an ending says about the cost, as columns of the statement that ends tasks. A success has its cost, because the
 * worker knows what was made. A job that was cancelled before it ran costs nothing. Any other ending has a `rule`: the
 * name of the amount in the stored price that is charged if the task was submitted.
 */
export interface Charge {
  rule: 'full' | 'failed' | 'stopped' | null;
  /** null when there is a `rule` */
  micros: number | null;
  basis: CostBasis;
  images: number;
  video_seconds: number;
  /** The provider of the binding that ran the task; null: the one that the task was submitted to, if any. */
  provider: string | null;
  /**
   * The usage to store. If an earlier call of the task was lost, the statement computes the usage instead. null if the
   * task did not succeed.
   */
  usage: StoredUsage | null;
}

const NOTHING = { images: 0, video_seconds: 0, provider: null, usage: null };

/** @param currency of all prices (ISO 4217) */
export function chargeOf({ outcome, usage }: Pick<Ending, 'outcome' | 'usage'>, currency: string): Charge {
  if (outcome.status === 'succeeded') return chargeOfSuccess(outcome.result, usage ?? NO_RUN, currency);
  const { code } = outcome.error;
  if (code === 'task_cancelled' || code === 'task_deadline_exceeded') {
    if (usage?.cancelled_unrun) return { ...NOTHING, rule: null, micros: 0, basis: 'free' };
    return { ...NOTHING, rule: 'stopped', micros: null, basis: 'assumed' };
  }
  const hasFailedThere = usage?.billing === 'charged' && code !== 'provider_outcome_unknown';
  if (hasFailedThere) return { ...NOTHING, rule: 'failed', micros: null, basis: 'priced' };
  return { ...NOTHING, rule: 'full', micros: null, basis: 'assumed' };
}

const NO_RUN: RunUsage = { provider: null, price: null, tokens: null, billing: null, cancelled_unrun: false };

function chargeOfSuccess(outputs: StoredOutput[], run: RunUsage, currency: string): Charge {
  const { provider, tokens } = run;
  const made = deliveredOf(outputs);
  const { micros, basis } = costOf(run, made);
  const usage = {
    provider,
    input_tokens: tokens?.input ?? null,
    output_tokens: tokens?.output ?? null,
    cost_micros: micros,
    currency,
    basis,
  };
  return { rule: null, micros, basis, ...made, provider, usage };
}

/** How many images were made, and how many seconds of video, rounded. */
export function deliveredOf(outputs: readonly Pick<StoredOutput, 'type' | 'duration'>[]) {
  const videos = outputs.filter(({ type }) => type === 'video');
  const seconds = videos.reduce((sum, { duration }) => sum + (duration ?? 0), 0);
  return { images: outputs.length - videos.length, video_seconds: Math.round(seconds) };
}

function costOf(
  { price, tokens, unknown_calls: unknown = 0 }: RunUsage,
  made: ReturnType<typeof deliveredOf>,
): { micros: number; basis: CostBasis } {
  if (price === null) return { micros: 0, basis: 'unpriced' };
  const { per_task = 0, per_image = 0, per_second = 0 } = price;
  const { per_million_input_tokens: perInput, per_million_output_tokens: perOutput } = price;
  if (tokens && (perInput !== undefined || perOutput !== undefined)) {
    return {
      micros: per_task + byTokens(tokens, perInput ?? 0, perOutput ?? 0),
      basis: unknown > 0 ? 'assumed' : 'reported',
    };
  }
  // A price that depends on tokens alone has no full amount, and no tokens were reported.
  if (price.full === undefined) return { micros: 0, basis: 'unpriced' };
  const micros = per_task + per_image * (made.images + unknown) + per_second * made.video_seconds;
  return { micros, basis: unknown > 0 ? 'assumed' : 'priced' };
}

/**
 * In micro-units, rounded once, half up. The products may exceed what a number holds exactly, so they are big integers.
 */
const byTokens = ({ input, output }: Tokens, perInput: number, perOutput: number): number =>
  Number((BigInt(perInput) * BigInt(input) + BigInt(perOutput) * BigInt(output) + 500_000n) / 1_000_000n);
