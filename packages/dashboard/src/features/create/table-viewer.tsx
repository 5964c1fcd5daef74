import { Link } from '@tanstack/react-router';
import { Clapperboard, ImagePlus, ListTodo, Pencil, Shuffle } from 'lucide-react';
import { isUsablePicture } from '../../live/task-store.ts';
import { useTasks } from '../../live/use-task.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { FullViewer } from '../../viewer/full-viewer.tsx';
import { type Shot, shotsOf } from '../../viewer/shot.ts';
import type { Run } from './runs.ts';
import type { StripActs } from './strip.tsx';
import type { Place } from './strip-tile.tsx';

interface Props {
  runs: readonly Run[];
  fileId: string;
  acts: StripActs;
  mayKeep: boolean;
  onView(fileId: string | null, replace: boolean): void;
}

/** The outputs of all runs, one at a time in the viewer. */
export function TableViewer({ runs, fileId, acts, mayKeep, onView }: Props) {
  const tasks = useTasks(runs.map(({ taskId }) => taskId));
  const shots = tasks.flatMap((task) => (task ? shotsOf(task) : []));
  const at = shots.findIndex(({ output }) => output.id === fileId);
  const go = (shot: Shot | undefined) => shot && onView(shot.output.id, true);
  const close = () => onView(null, false);
  const placeOf = ({ output, taskId, ratio, of }: Shot): Place | null => {
    const place = runs.findIndex((run) => run.taskId === taskId);
    const run = runs[place];
    return run ? { run, task: tasks[place], output, index: output.index, of, ratio } : null;
  };
  /** Closes the viewer before the work, because the result appears in the screen below the viewer. */
  const act = (shot: Shot, work: (place: Place) => void) => () => {
    const place = placeOf(shot);
    close();
    if (place) work(place);
  };
  return (
    <FullViewer
      shot={shots[at] ?? null}
      shots={shots}
      isLoading={tasks.includes(undefined)}
      home="Create"
      onGo={go}
      onStep={(by) => void go(shots[at + by])}
      onEnd={(last) => void go(last ? shots.at(-1) : shots[0])}
      onClose={close}
      mayKeep={mayKeep}
      renderActs={(shot) => (
        <>
          {isUsablePicture(shot.output) && acts.onVary && (
            <Button onClick={act(shot, (place) => acts.onVary?.(place, false))}>
              <Shuffle aria-hidden /> Vary
            </Button>
          )}
          {isUsablePicture(shot.output) && acts.onAnimate && (
            <Button onClick={act(shot, (place) => acts.onAnimate?.(place))}>
              <Clapperboard aria-hidden /> Animate
            </Button>
          )}
          {isUsablePicture(shot.output) && (
            <Link to="/create" search={{ ref: shot.output.id }} className={buttonClass()}>
              <ImagePlus aria-hidden /> Use as reference
            </Link>
          )}
          <Button onClick={act(shot, ({ run }) => acts.onEdit(run))}>
            <Pencil aria-hidden /> Edit
          </Button>
          <Link
            to="/tasks/$taskId"
            params={{ taskId: shot.taskId }}
            search={{ output: String(shot.output.index + 1) }}
            className={buttonClass()}
          >
            <ListTodo aria-hidden /> Task
          </Link>
        </>
      )}
    />
  );
}
