import { Link } from '@tanstack/react-router';
import { Clapperboard, ImagePlus, ListTodo } from 'lucide-react';
import { isUsablePicture } from '../../live/task-store.ts';
import { useTasks } from '../../live/use-task.ts';
import { buttonClass } from '../../parts/button.tsx';
import { FullViewer } from '../../viewer/full-viewer.tsx';
import { type Shot, shotsOf } from '../../viewer/shot.ts';
import type { BatchItem } from './use-batch-items.ts';

interface Props {
  /** Null: the items are not read yet, or cannot be read. */
  items: readonly BatchItem[] | null;
  hasFailed: boolean;
  fileId: string;
  mayKeep: boolean;
  onView(fileId: string | null, replace: boolean): void;
}

/** The outputs of a batch that still have a link, one at a time, in the order of the items. */
export function BatchViewer({ items, hasFailed, fileId, mayKeep, onView }: Props) {
  // `reads: false`, because the tiles already read the tasks.
  const tasks = useTasks(items?.map(({ taskId, againId }) => againId ?? taskId) ?? [], { reads: false });
  const shots = tasks.flatMap((task) => (task ? shotsOf(task) : [])).filter(({ output }) => output.url !== null);
  const at = shots.findIndex(({ output }) => output.id === fileId);
  const go = (shot: Shot | undefined) => shot && onView(shot.output.id, true);
  return (
    <FullViewer
      shot={shots[at] ?? null}
      shots={shots}
      isLoading={!hasFailed && (items === null || tasks.includes(undefined))}
      home="Batch"
      onGo={go}
      onStep={(by) => void go(shots[at + by])}
      onEnd={(last) => void go(last ? shots.at(-1) : shots[0])}
      onClose={() => onView(null, false)}
      mayKeep={mayKeep}
      renderActs={({ output, taskId }) => (
        <>
          {mayKeep && isUsablePicture(output) && (
            <>
              <Link to="/create" search={{ animate: output.id }} className={buttonClass()}>
                <Clapperboard aria-hidden /> Animate
              </Link>
              <Link to="/create" search={{ ref: output.id }} className={buttonClass()}>
                <ImagePlus aria-hidden /> Use as reference
              </Link>
            </>
          )}
          <Link
            to="/tasks/$taskId"
            params={{ taskId }}
            search={{ output: String(output.index + 1) }}
            className={buttonClass()}
          >
            <ListTodo aria-hidden /> Task
          </Link>
        </>
      )}
    />
  );
}
