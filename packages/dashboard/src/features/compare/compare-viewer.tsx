import { ListTodo } from 'lucide-react';
import { useTasks } from '../../live/use-task.ts';
import { Button } from '../../parts/button.tsx';
import { FullViewer } from '../../viewer/full-viewer.tsx';
import { type Shot, shotsOf } from '../../viewer/shot.ts';
import type { Chosen } from './chosen.ts';

interface Props {
  chosen: readonly Chosen[];
  /** The number of the output that is shown, from 1. */
  number: number;
  mayKeep: boolean;
  onNumber(number: number | null): void;
  onTask(taskId: string, output: number): void;
}

/** The compared outputs, one at a time in the viewer. */
export function CompareViewer({ chosen, number, mayKeep, onNumber, onTask }: Props) {
  const tasks = useTasks(chosen.map(({ taskId }) => taskId));
  const all = chosen.map(({ index }, at) => {
    const task = tasks[at];
    return task ? shotsOf(task).find(({ output }) => output.index === index) : undefined;
  });
  const shots = all.filter((shot) => shot !== undefined);
  const go = (shot: Shot | undefined) => shot && onNumber(all.indexOf(shot) + 1);
  const shown = all[number - 1] ?? null;
  return (
    <FullViewer
      shot={shown}
      shots={shots}
      isLoading={tasks.includes(undefined)}
      home="Compare"
      onGo={go}
      onStep={(by) => void go(shown ? shots[shots.indexOf(shown) + by] : undefined)}
      onEnd={(last) => void go(last ? shots.at(-1) : shots[0])}
      onClose={() => onNumber(null)}
      mayKeep={mayKeep}
      renderActs={({ taskId, output }) => (
        <Button onClick={() => onTask(taskId, output.index + 1)}>
          <ListTodo aria-hidden /> Task
        </Button>
      )}
    />
  );
}
