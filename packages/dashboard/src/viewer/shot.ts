import type { Starred } from '../live/stars.ts';
import type { Output, TaskRow } from '../live/task-store.ts';

/** A picture or film, with facts of its task. */
export interface Shot {
  output: Output;
  taskId: string;
  model: string;
  prompt: string;
  createdAt: number;
  /** How many outputs the task has. */
  of: number;
  /** Width / height. */
  ratio: number;
  /** Unix seconds at which the file is or was deleted, unless the file is kept; 0: never. */
  filesUntil: number;
}

export const shotsOf = ({ taskId, model, prompt, createdAt, outputs, filesUntil }: TaskRow): Shot[] =>
  outputs.map((output) => ({
    output,
    taskId,
    model,
    prompt,
    createdAt,
    filesUntil,
    of: outputs.length,
    ratio: output.width / output.height,
  }));

/** The id of the task to which the output with this id belongs; null: the id is not the id of an output. */
export function taskOf(fileId: string | null): string | null {
  const task = /^file_(?<task>[0-9a-z]{26})_\d+$/.exec(fileId ?? '')?.groups?.['task'];
  return task ? `task_${task}` : null;
}

/** What `setStar` needs of the output with this id; null: the id is not the id of an output. */
export function starredOf(fileId: string): Starred | null {
  const taskId = taskOf(fileId);
  return taskId === null ? null : { taskId, output: { id: fileId, index: Number(fileId.split('_')[2]) } };
}
