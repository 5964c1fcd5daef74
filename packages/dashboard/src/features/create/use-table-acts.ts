import { useEffect } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { mayRunAgain } from '../../api/error-words.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { CancelTask } from '../../live/task-actions.documents.ts';
import { isFinal, isUsablePicture, putTasks, taskRow, type TaskNow } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { report } from '../../parts/toasts.ts';
import type { Model } from './create.documents.ts';
import type { May } from './create-search.ts';
import { type Run, startRuns } from './runs.ts';
import { imagePlaceOf } from './image-places.ts';
import { type Control, schemaOf, switchModel } from './schema-rules.ts';
import type { StripActs } from './strip.tsx';
import type { Place } from './strip-tile.tsx';
import type { Form } from './use-form.ts';

interface Props {
  models: readonly Model[];
  form: Form;
  runs: readonly Run[];
  may: May;
  /** The id of the picture to make a film of, if the address names one. */
  toAnimate: string | undefined;
  /** Called when the form was filled: the focus goes to the prompt. */
  onFilled(): void;
  /** Called when a request was sent. The runs are then scrolled to the newest run, which is at the lower end. */
  onSent(): void;
}

interface TableActs extends StripActs {
  /**
   * Puts a picture of this service, such as an uploaded one, into the form, to make a film of it. Null: no film model
   * takes a picture, or the key may not create tasks.
   */
  toFilm: ((fileId: string) => void) | null;
}

/** The actions on the runs of Create. Their shortcuts act on the strip that has the focus, else on the newest strip. */
export function useTableActs({ models, form, runs, may, toAnimate, onFilled, onSent }: Props): TableActs {
  const modelOf = (id: string) => models.find((each) => each.id === id);
  const fill = (model: string, values: Record<string, unknown>, parent: string | null) => {
    form.replace({ model, parent, values });
    onFilled();
  };
  const edit = ({ request: { model, ...values }, taskId }: Run) => fill(model, values, taskId);
  const again = (run: Run) => {
    void startRuns([run.request], run.taskId);
    onSent();
  };
  const cancel = (taskId: string) =>
    void mutate(CancelTask, { taskId }).then(
      ({ cancelTask }) => putTasks([toRow(cancelTask)]),
      (error: unknown) => report(asCallError(error).message, true),
    );
  /** Makes another picture from this output with the same model. With `fillsOnly` it only fills the form. */
  function vary({ run, output }: Place, fillsOnly: boolean) {
    const model = modelOf(run.request.model);
    const place = model && imagePlaceOf(schemaOf(model), run.request);
    if (!place || !output) return report(`${run.request.model} takes no reference image.`, true);
    const request = { ...run.request, ...imageIn(place, output.id) };
    if (fillsOnly) return edit({ ...run, request });
    void startRuns([request], run.taskId);
    onSent();
  }
  const filmModel = models.find(
    (model) => model.kind === 'VIDEO' && model.available && imagePlaceOf(schemaOf(model)) !== null,
  );
  /** Fills the form with a model for films, the picture and its prompt. Nothing is sent. */
  function animate(fileId: string, prompt: unknown, modelId: string, taskId: string | null) {
    if (!filmModel) return report('No model makes a film of a picture.', true);
    const from = modelOf(modelId);
    const cleared = Object.entries(form.now().values).filter(([, value]) => value === '');
    const given = { ...Object.fromEntries(cleared), prompt };
    const carried = from ? switchModel(given, schemaOf(from), schemaOf(filmModel), filmModel.id).values : given;
    const images = [...form.unseenImages(), fileId];
    fill(filmModel.id, carried, taskId);
    form.addImages(images);
  }
  const toFilm = (fileId: string) => {
    const { values, model, parent } = form.now();
    animate(fileId, values.prompt ?? '', model.id, parent);
  };
  useEffect(() => {
    if (toAnimate) toFilm(toAnimate);
    // No other dependencies, because a picture goes into the form only when the address names a new one.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [toAnimate]);

  const on = (act: (run: Run, task: TaskNow) => void) => () => {
    const strip = document.activeElement?.closest<HTMLElement>('[data-run]');
    const run = runs.find(({ key }) => key === strip?.dataset.run) ?? runs[0];
    if (run) act(run, run.taskId ? taskRow(run.taskId) : undefined);
  };
  useShortcuts({
    e: on(edit),
    ...(may.create && {
      r: on((run, task) => task && isFinal(task) && mayRunAgain(task) && again(run)),
      v: on((run, task) => {
        const output = task?.outputs[0];
        if (output && isUsablePicture(output)) vary({ run, task, output, index: 0, of: 1, ratio: 1 }, false);
      }),
    }),
    ...(may.cancel && { c: on((_, task) => task && !isFinal(task) && cancel(task.taskId)) }),
  });
  return {
    onReference: (fileId) => form.addImages([fileId]),
    onAgain: may.create ? again : null,
    onEdit: edit,
    onCancel: may.cancel ? cancel : null,
    onVary: may.create ? vary : null,
    onAnimate:
      may.create && filmModel
        ? ({ run: { request, taskId }, output }) => output && animate(output.id, request.prompt, request.model, taskId)
        : null,
    toFilm: may.create && filmModel ? toFilm : null,
    mayKeep: may.create,
  };
}

const imageIn = ({ name, kind }: Control, fileId: string): Record<string, unknown> => ({
  [name]: kind === 'image' ? fileId : [fileId],
});
