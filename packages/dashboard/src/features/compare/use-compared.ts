import { useEffect, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError, type CallError } from '../../api/errors.ts';
import { putTasks } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { useWhenLive } from '../../live/use-when-live.ts';
import { type Compared, ComparedTask } from './compare.documents.ts';

/** Reads the tasks with their inputs, by id. The live feed keeps their states and outputs up to date. */
export function useCompared(taskIds: readonly string[]) {
  const [tasks, setTasks] = useState<ReadonlyMap<string, Compared>>(new Map());
  const [error, setError] = useState<CallError | null>(null);
  const [times, setTimes] = useState(0);
  const key = [...new Set(taskIds)].join(',');
  useWhenLive(() => setTimes(times + 1), error !== null);
  useEffect(() => {
    let isOld = false;
    const read = async () => {
      const answers = await Promise.all(
        key
          .split(',')
          .filter(Boolean)
          .map((taskId) => run(ComparedTask, { taskId })),
      );
      if (isOld) return;
      putTasks(answers.map(({ task }) => toRow(task)));
      setTasks(new Map(answers.map(({ task }) => [task.taskId, task])));
      setError(null);
    };
    read().catch((fault: unknown) => !isOld && setError(asCallError(fault)));
    return () => {
      isOld = true;
    };
  }, [key, times]);
  return { tasks, error, reload: () => setTimes(times + 1) };
}
