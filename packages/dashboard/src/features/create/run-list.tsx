import { Fragment, useSyncExternalStore } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { mayRunAgain } from '../../api/error-words.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { CancelTask } from '../../live/task-actions.documents.ts';
import { isFinal, putTasks, taskRow } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { report } from '../../parts/toasts.ts';
import { type Model, typicalRunS } from './create.documents.ts';
import styles from './create.module.css';
import { Examples } from './examples.tsx';
import { RunCard } from './run-card.tsx';
import { RunGroup } from './run-group.tsx';
import { schemaOf } from './schema-rules.ts';
import { currentRuns, onRuns, type Run, startRuns } from './runs.ts';

interface Props {
  models: readonly Model[];
  mayCancel: boolean;
  onExample(prompt: string): void;
  onEdit(run: Run, reference?: string): void;
}

/** What this tab has made, newest first. Single keys act on the card that has the focus, else on the newest. */
export function RunList({ models, mayCancel, onExample, onEdit }: Props) {
  const runs = useSyncExternalStore(onRuns, currentRuns);
  const modelOf = (id: string) => models.find((each) => each.id === id);

  const cancel = (taskId: string) =>
    void mutate(CancelTask, { taskId }).then(
      ({ cancelTask }) => putTasks([toRow(cancelTask)]),
      (error: unknown) => report(asCallError(error).message, true),
    );
  const again = (run: Run) => void startRuns([run.request], run.taskId);

  const focused = () => {
    const card = document.activeElement?.closest<HTMLElement>('[data-run]');
    return runs.find(({ key }) => key === card?.dataset.run) ?? runs[0];
  };
  const on = (act: (run: Run, task: ReturnType<typeof taskRow>) => void) => () => {
    const run = focused();
    if (run) act(run, run.taskId ? taskRow(run.taskId) : undefined);
  };
  useShortcuts({
    r: on((run, task) => task && isFinal(task) && mayRunAgain(task) && again(run)),
    e: on((run) => onEdit(run)),
    v: on((run, task) => task?.outputs[0]?.type === 'IMAGE' && onEdit(run, task.outputs[0].id)),
    ...(mayCancel && { c: on((_, task) => task && !isFinal(task) && cancel(task.taskId)) }),
  });

  return (
    <section className={styles.results} aria-label="Runs of this tab">
      {runs.length === 0 && <Examples onChoose={onExample} />}
      {runs.map((run, at) => (
        <Fragment key={run.key}>
          {run.group && run.group !== runs[at - 1]?.group && (
            <RunGroup runs={runs.filter(({ group }) => group === run.group)} />
          )}
          <RunCard
            run={run}
            {...ofModel(modelOf(run.request.model))}
            actions={{ mayCancel, onAgain: again, onEdit, onVary: onEdit, onCancel: cancel }}
          />
        </Fragment>
      ))}
    </section>
  );
}

/** What a card shows of its model, which may be gone. */
const ofModel = (model: Model | undefined) => ({
  typicalS: model ? typicalRunS(model) : null,
  schema: model && schemaOf(model),
});
