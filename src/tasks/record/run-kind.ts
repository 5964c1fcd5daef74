import type { Task } from './task.entity.ts';

/** What the time of a run is estimated by: runs with the same values count as the same kind. */
export interface RunKind {
  model: string;
  /** Empty for a model without resolutions. */
  resolution: string;
  /** How many pictures, or seconds of film. */
  n: number;
}

export function runKindOf({ model, input }: Pick<Task, 'model' | 'input'>): RunKind {
  const { resolution, n, duration } = input;
  return {
    model,
    resolution: typeof resolution === 'string' ? resolution : '',
    n: integerOf(n) ?? integerOf(duration) ?? 1,
  };
}

export const runKindKey = ({ model, resolution, n }: RunKind): string => `${model} ${resolution} ${n}`;

/** The kind that stands for all runs of a model, whatever their resolution and number. */
export const anyRunOf = (model: string): RunKind => ({ model, resolution: '', n: 0 });

const integerOf = (value: unknown): number | undefined => (Number.isInteger(value) ? (value as number) : undefined);
