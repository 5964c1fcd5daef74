import { useSyncExternalStore } from 'react';
import { nowS, onTick } from '../format/clock.ts';
import { endWords } from '../format/ends.ts';
import type { Output } from '../live/task-store.ts';
import { useTask } from '../live/use-task.ts';

/** An output of a list, as it was when the list was read. */
export interface Listed {
  taskId: string;
  output: Output;
  /** Unix seconds at which the file is deleted, unless the file is kept; 0: never. */
  filesUntil: number;
}

export interface OutputNow {
  output: Output;
  /** `Deleted in 2 days` in the last two days; null: earlier, kept, or already deleted. */
  ends: string | null;
  filesUntil: number;
}

/** The present state of an output. If its task was deleted, the output has no file. */
export function useOutput(listed: Listed): OutputNow {
  const row = useTask(listed.taskId);
  const listedNow = row === null ? { ...listed.output, url: null, preview: null } : listed.output;
  const output = row?.outputs[listed.output.index] ?? listedNow;
  const filesUntil = row ? row.filesUntil : listed.filesUntil;
  const hasEnd = !output.kept && output.url !== null;
  const ends = useSyncExternalStore(onTick, () => (hasEnd ? endWords(filesUntil, nowS()) : null));
  return { output, ends, filesUntil };
}
