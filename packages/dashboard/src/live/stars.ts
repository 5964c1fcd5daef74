import { mutate } from '../api/client.ts';
import { asCallError, type CallError } from '../api/errors.ts';
import { KeepFile, UnkeepFile } from './stars.documents.ts';
import { confirmStar, layStar, liftStars, type Output, type Star } from './task-store.ts';
import { readTask } from './use-task.ts';

/** The fields of an output that `setStar` needs. A star marks an output that is kept. */
export interface Starred {
  taskId: string;
  output: Pick<Output, 'id' | 'index'>;
}

/** The last star change that is under way, by task. The next change waits for it, so that the last press counts. */
const underWay = new Map<string, Promise<unknown>>();

/**
 * Shows the change of the star at once, and takes it back if the service refuses it.
 * @returns why the service refused it; null: it was accepted
 */
export async function setStar({ taskId, output: { id, index } }: Starred, star: Star): Promise<CallError | null> {
  layStar(taskId, index, star);
  const isLast = () => underWay.get(taskId) === turn;
  const turn = (underWay.get(taskId) ?? Promise.resolve()).then(async () => {
    const fault = await send(id, star);
    if (!fault) confirmStar(taskId, index, star);
    return fault;
  });
  underWay.set(taskId, turn);
  const fault = await turn;
  if (isLast()) await readTask(taskId); // the deletion times of the task's other outputs may have changed too
  if (isLast()) {
    underWay.delete(taskId);
    liftStars(taskId);
  }
  return fault;
}

const send = (id: string, { kept, collection }: Star): Promise<CallError | null> =>
  (kept ? mutate(KeepFile, { id, collection }) : mutate(UnkeepFile, { id })).then(() => null, asCallError);
