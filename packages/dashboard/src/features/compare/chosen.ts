import { MAX_COMPARED } from '../../viewer/max-compared.ts';
import { ownFileIn } from '../../viewer/own-file-in.ts';

/** An output of a task, as the address of the screen Compare names it. The index counts from 0. */
export interface Chosen {
  taskId: string;
  index: number;
}

/** Reads `outputs=file_a,file_b` and `tasks=task_a,task_b`: at most four, outputs first, without misspelt ids. */
export function chosenOf({ outputs, tasks }: { outputs?: string; tasks?: string }): Chosen[] {
  const all = [...split(outputs).map(ofOutput), ...split(tasks).map(ofTask)].filter((each) => each !== null);
  return all.slice(0, MAX_COMPARED);
}

const split = (text: string | undefined): string[] => text?.split(',').filter(Boolean) ?? [];

/** The id of an output contains the id of its task. */
function ofOutput(id: string): Chosen | null {
  const groups = /^file_(?<task>[0-9a-z]{26})_(?<index>\d+)$/.exec(id)?.groups;
  return groups ? { taskId: `task_${groups['task']}`, index: Number(groups['index']) } : null;
}

const ofTask = (id: string): Chosen | null => (/^task_[0-9a-z]{26}$/.test(id) ? { taskId: id, index: 0 } : null);

/** The id of the output, as the address of the screen Compare contains it. */
export const outputId = ({ taskId, index }: Chosen): string => `${taskId.replace('task_', 'file_')}_${index}`;

/**
 * The inputs by name, with their value in every task. Inputs that differ come first. A link to a file of this service
 * is shown as the id of the file.
 */
export function inputsOf(
  inputs: readonly Record<string, unknown>[],
): { name: string; values: string[]; differs: boolean }[] {
  const names = [...new Set(inputs.flatMap((input) => Object.keys(input)))];
  return names
    .map((name) => {
      const values = inputs.map((input) => textOf(input[name]));
      return { name, values, differs: new Set(values).size > 1 };
    })
    .toSorted((a, b) => Number(b.differs) - Number(a.differs));
}

const textOf = (value: unknown): string =>
  value === undefined
    ? '–'
    : typeof value === 'string'
      ? (ownFileIn(value) ?? value)
      : JSON.stringify(value, (_, each: unknown) => ownFileIn(each) ?? each);
