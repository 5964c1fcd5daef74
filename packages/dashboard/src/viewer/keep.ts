import { plural } from '../format/numbers.ts';
import { setStar, type Starred } from '../live/stars.ts';
import { type Output, type Star, taskRow } from '../live/task-store.ts';
import { report } from '../parts/toasts.ts';

/** The output's present state: a list holds outputs as they were when it was read. */
export const outputNow = ({ taskId, output: { index } }: Starred): Output | undefined =>
  taskRow(taskId)?.outputs[index];

/** Keeps the files that are not kept. If all are kept, keeps none of them any more. */
export async function toggleStars(files: readonly Starred[]): Promise<void> {
  const open = files.filter((file) => !outputNow(file)?.kept);
  if (open.length > 0) return starAll(open, { kept: true, collection: null });
  return starAll(files, { kept: false, collection: null });
}

/** Marks the files as kept, and puts them into the collection. With null they are kept outside of any collection. */
export const collect = (files: readonly Starred[], collection: string | null): Promise<void> =>
  starAll(files, { kept: true, collection });

/**
 * Changes the files one after the other. Reports what was refused and, for several files or a collection, what was
 * done.
 */
async function starAll(files: readonly Starred[], star: Star): Promise<void> {
  const refused = new Map<string, number>();
  for (const file of files) {
    const fault = await setStar(file, star);
    if (fault) refused.set(fault.message, (refused.get(fault.message) ?? 0) + 1);
  }
  const done = files.length - [...refused.values()].reduce((sum, times) => sum + times, 0);
  const words = [...refused].map(([message, times]) => (files.length > 1 ? `${times} refused: ${message}` : message));
  if (files.length > 1 || star.collection !== null) words.unshift(...(done > 0 ? [doneWords(done, star)] : []));
  if (words.length > 0) report(words.join(' '), refused.size > 0);
}

function doneWords(done: number, { kept, collection }: Star): string {
  if (!kept) return `${plural(done, 'file')} given up: time deletes ${done === 1 ? 'it' : 'them'} again.`;
  return collection === null ? `${plural(done, 'file')} kept.` : `${plural(done, 'file')} kept in “${collection}”.`;
}
