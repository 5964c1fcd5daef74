import type { Task } from './task.entity.ts';

/** What decides how long a run takes, as far as estimates know. */
export interface RunKind {
  model: string;
  /** Empty for a model without it. */
  resolution: string;
  n: number;
}

export function runKindOf({ model, input }: Pick<Task, 'model' | 'input'>): RunKind {
  const { resolution, n } = input;
  return {
    model,
    resolution: typeof resolution === 'string' ? resolution : '',
    n: typeof n === 'number' ? n : 1,
  };
}

export const runKindKey = ({ model, resolution, n }: RunKind): string => `${model} ${resolution} ${n}`;

/** The kind of all runs of a model together, of any resolution and number. */
export const anyRunOf = (model: string): RunKind => ({ model, resolution: '', n: 0 });
