import { useSyncExternalStore } from 'react';
import { nowS, onTick } from '../format/clock.ts';
import { endWords } from '../format/ends.ts';
import type { Output } from '../live/task-store.ts';
import { useTask } from '../live/use-task.ts';

/** An output of a list, as it was read. */
export interface Listed {
  taskId: string;
  output: Output;
  /** When its file is deleted, unix seconds; 0: never. */
  filesUntil: number;
}

export interface OutputNow {
  output: Output;
  /** `Deleted in 2 days`, in its last two days; null: before, or it is kept or gone. */
  ends: string | null;
  filesUntil: number;
}

/** An output as it is now. */
export function useOutput(listed: Listed): OutputNow {
  const row = useTask(listed.taskId);
  const output = row?.outputs[listed.output.index] ?? listed.output;
  const filesUntil = row ? row.filesUntil : listed.filesUntil;
  const hasEnd = !output.kept && output.url !== null;
  const ends = useSyncExternalStore(onTick, () => (hasEnd ? endWords(filesUntil, nowS()) : null));
  return { output, ends, filesUntil };
}
