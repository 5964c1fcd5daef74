import { Link } from '@tanstack/react-router';
import { CircleX, Pencil, RotateCcw, SquareSplitHorizontal, X } from 'lucide-react';
import { useEffect, useState } from 'react';
import { mayRunAgain } from '../../api/error-words.ts';
import { ratioOf } from '../../format/ratio.ts';
import { announceTask } from '../../live/announcer.ts';
import { isCancelled, isFinal, type TaskNow } from '../../live/task-store.ts';
import { useTasks } from '../../live/use-task.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { StatusChip } from '../../parts/status-chip.tsx';
import type { Model } from './create.documents.ts';
import { typicalRunS } from './create.documents.ts';
import { Failure, Refusal, Timing } from './run-words.tsx';
import { comparedOf, type Run, removeRun } from './runs.ts';
import { schemaOf } from './schema-rules.ts';
import styles from './strip.module.css';
import { type Place, StripTile, type TileActs } from './strip-tile.tsx';

export interface StripActs extends TileActs {
  /** Null: the key may not create tasks. */
  onAgain: ((run: Run) => void) | null;
  onEdit(run: Run): void;
  onCancel: ((taskId: string) => void) | null;
}

interface Props {
  /** The runs of one press of Generate. */
  runs: readonly [Run, ...Run[]];
  models: readonly Model[];
  acts: StripActs;
}

/** The runs of one press, from sending to the pictures: the first picture large, the others beside it. */
export function Strip({ runs, models, acts }: Props) {
  const [first] = runs;
  const tasks = useTasks(runs.map(({ taskId }) => taskId));
  useEffect(() => {
    for (const [at, task] of tasks.entries()) if (task === null) removeRun((runs[at] as Run).key);
  }, [tasks, runs]);
  // Pictures appear with an animation only if one task of the strip was seen unfinished. After a reload, ended tasks
  // have no animation.
  const [watched, setWatched] = useState(false);
  if (!watched && tasks.some((task) => task && !isFinal(task))) setWatched(true);
  const ids = runs.map(({ taskId }) => taskId ?? '').join(' ');
  useEffect(() => {
    const stops = ids.split(' ').filter(Boolean).map(announceTask);
    return () => {
      for (const stop of stops) stop();
    };
  }, [ids]);

  const modelOf = (id: string) => models.find((each) => each.id === id);
  const places = runs.flatMap((run, at) => placesOf(run, tasks[at], modelOf(run.request.model)));
  const [large, ...rest] = places;
  const hasModels = new Set(runs.map(({ request }) => request.model)).size > 1;
  const made = places.some(({ output }) => output);
  const isPending = tasks.some((task) => !task || !isFinal(task)) && runs.some(({ fault }) => !fault);
  const draw = (place: Place, isLarge: boolean) => (
    <StripTile
      key={`${place.run.key} ${place.index}`}
      place={place}
      isLarge={isLarge}
      withModel={hasModels}
      develops={watched}
      onVary={acts.onVary}
      onAnimate={acts.onAnimate}
      onReference={acts.onReference}
      mayKeep={acts.mayKeep}
    />
  );
  return (
    <article className={styles.strip} data-run={first.key} aria-label={`Run: ${first.request.prompt.slice(0, 80)}`}>
      {(made || isPending) && large && (
        <div className={styles.tiles}>
          {draw(large, true)}
          {rest.length > 0 && <div className={styles.rest}>{rest.map((place) => draw(place, false))}</div>}
        </div>
      )}
      <Caption runs={runs} tasks={tasks} modelOf={modelOf} acts={acts} />
      {runs.map((run, at) => {
        const task = tasks[at];
        if (run.fault) return <Refusal key={run.key} run={run} />;
        return task?.error && !isCancelled(task) && <Failure key={run.key} task={task} />;
      })}
    </article>
  );
}

function placesOf(run: Run, task: TaskNow, model: Model | undefined): Place[] {
  const { n } = run.request;
  const outputs = task?.outputs ?? [];
  const of = outputs.length > 0 ? outputs.length : typeof n === 'number' ? n : 1;
  const expected = ratioOf(run.request, model && schemaOf(model));
  return Array.from({ length: of }, (_, index) => {
    const output = outputs[index];
    return { run, task, output, index, of, ratio: output ? output.width / output.height : expected };
  });
}

interface CaptionProps {
  runs: Props['runs'];
  tasks: readonly TaskNow[];
  modelOf(id: string): Model | undefined;
  acts: StripActs;
}

/** Below the tiles: the states, the prompt, and the actions on all tasks of one press of Generate. */
function Caption({ runs, tasks, modelOf, acts }: CaptionProps) {
  const [run, ...others] = runs;
  const [task] = tasks;
  const { prompt, model, n } = run.request;
  const ended = tasks.every((each) => each && isFinal(each));
  const open = tasks.flatMap((each) => (each && !isFinal(each) ? [each.taskId] : []));
  const typical = modelOf(model);
  const compared = comparedOf(runs, tasks);
  return (
    <div className={styles.caption}>
      <div className={styles.words}>
        <p className={styles.facts}>
          {others.length > 0 ? (
            <strong>{runs.length} tasks of one form</strong>
          ) : task ? (
            <StatusChip status={task.status} progress={task.progress} errorCode={task.error?.code} />
          ) : (
            <span>{run.fault ? 'Not sent' : 'Sending…'}</span>
          )}
          {task && others.length === 0 && <Timing task={task} typicalS={typical ? typicalRunS(typical) : null} />}
          <span>
            {[
              others.length === 0 && model,
              run.request['aspect_ratio'],
              run.request['resolution'],
              typeof n === 'number' && n > 1 && `${n} images`,
            ]
              .filter(Boolean)
              .join(' · ')}
          </span>
          {run.taskId && others.length === 0 && (
            <Link to="/tasks/$taskId" params={{ taskId: run.taskId }}>
              Task
            </Link>
          )}
        </p>
        <p className={styles.prompt}>
          <bdi>{prompt}</bdi>
        </p>
      </div>
      <span className={styles.acts}>
        {acts.onCancel && open.length > 0 && (
          <Button variant="quiet" onClick={() => open.forEach((taskId) => acts.onCancel?.(taskId))}>
            <CircleX aria-hidden /> Cancel
          </Button>
        )}
        {compared && (
          <Link to="/compare" search={compared.search} className={buttonClass({ variant: 'quiet' })}>
            <SquareSplitHorizontal aria-hidden /> Compare {compared.count}
          </Link>
        )}
        {acts.onAgain && ended && task && others.length === 0 && mayRunAgain(task) && (
          <Button variant="quiet" onClick={() => acts.onAgain?.(run)}>
            <RotateCcw aria-hidden /> Run again
          </Button>
        )}
        <Button variant="quiet" onClick={() => acts.onEdit(run)}>
          <Pencil aria-hidden /> Edit
        </Button>
        {(ended || run.fault) && (
          <IconButton label="Remove from this list" onClick={() => runs.forEach(({ key }) => removeRun(key))}>
            <X />
          </IconButton>
        )}
      </span>
    </div>
  );
}
