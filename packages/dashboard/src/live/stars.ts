import { mutate } from '../api/client.ts';
import { asCallError, type CallError } from '../api/errors.ts';
import { KeepFile, UnkeepFile } from './stars.documents.ts';
import { type Output, putTasks, taskRow } from './task-store.ts';
import { readTask } from './use-task.ts';

/** An output, by what a star needs to know of it. */
export interface Starred {
  taskId: string;
  output: Pick<Output, 'id' | 'index'>;
}

/** Whether an output is kept, and under which name; null: none. */
export type Star = Pick<Output, 'kept' | 'collection'>;

/** The last act of each task that is under way. The next one waits, so that the last press counts. */
const underWay = new Map<string, Promise<unknown>>();

/**
 * Shows the star at once, and takes it back when the service refuses it.
 * @returns why it was refused; null: it was not
 */
export async function setStar({ taskId, output }: Starred, star: Star): Promise<CallError | null> {
  const before = starIn(taskId, output);
  show(taskId, output, star);
  const turn = (underWay.get(taskId) ?? Promise.resolve()).then(() => send(output.id, star));
  underWay.set(taskId, turn);
  const fault = await turn;
  if (underWay.get(taskId) !== turn) return fault; // another press came after it
  underWay.delete(taskId);
  if (fault && before) show(taskId, output, before);
  await readTask(taskId); // the ends of its other outputs are others too
  return fault;
}

const starIn = (taskId: string, { index }: Starred['output']): Star | undefined => taskRow(taskId)?.outputs[index];

function show(taskId: string, { index }: Starred['output'], { kept, collection }: Star): void {
  const row = taskRow(taskId);
  if (!row) return;
  const outputs = row.outputs.map((each) => (each.index === index ? { ...each, kept, collection } : each));
  putTasks([{ ...row, outputs, kept: outputs.some((each) => each.kept) }]);
}

const send = (id: string, { kept, collection }: Star): Promise<CallError | null> =>
  (kept ? mutate(KeepFile, { id, collection }) : mutate(UnkeepFile, { id })).then(() => null, asCallError);
