import { useEffect, useRef, useSyncExternalStore } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { MOD, useShortcuts } from '../../keys/shortcuts.ts';
import { putTasks } from '../../live/task-store.ts';
import { CancelTask } from '../../live/task-actions.documents.ts';
import { toRow } from '../../live/task.documents.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/field.tsx';
import { Page } from '../../parts/page.tsx';
import { Select } from '../../parts/select.tsx';
import { report } from '../../parts/toasts.ts';
import { CodePanel } from './code-panel.tsx';
import type { Model } from './create.documents.ts';
import styles from './create.module.css';
import type { CreateSearch, May } from './create-search.ts';
import type { Draft } from './draft.ts';
import { Examples } from './examples.tsx';
import { RunCard } from './run-card.tsx';
import { currentRuns, onRuns, type Run, startRun } from './runs.ts';
import { SchemaForm } from './schema-form.tsx';
import { controlsOf, missing, requestOf, type Values } from './schema-rules.ts';
import { schemaOf, useForm } from './use-form.ts';

/** Two presses within this time are one. */
const SAME_PRESS_MS = 400;

interface Props {
  models: readonly [Model, ...Model[]];
  start: Draft;
  search: CreateSearch;
  may: May;
}

export function CreateForm({ models, start, search, may }: Props) {
  const form = useForm(models, start);
  const runs = useSyncExternalStore(onRuns, currentRuns);
  const place = useRef<HTMLFormElement>(null);
  const pressedAt = useRef(0);
  const schema = schemaOf(form.model);
  const typicalS = form.model.health.medianRunS;

  const focusField = (name: string) =>
    place.current?.querySelector<HTMLElement>(`[data-field="${name}"] :is(textarea, input, select, button)`)?.focus();
  useEffect(() => focusField('prompt'), []);
  useEffect(() => {
    if (search.ref) addReference(search.ref);
    // The address names the reference once; the form holds it from then on.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [search.ref]);

  function addReference(fileId: string) {
    const target = controlsOf(schema, form.values).find(
      ({ kind, disabled }) => (kind === 'images' || kind === 'image') && disabled === null,
    );
    if (!target) return report(`${form.model.id} takes no reference image.`, true);
    const before = form.values[target.name];
    const known = Array.isArray(before) ? (before as string[]) : [];
    if (known.includes(fileId)) return;
    form.set(target.name, target.kind === 'image' ? fileId : [...known, fileId]);
  }

  async function generate(values: Values = form.values, parentTaskId?: string) {
    if (!may.create || performance.now() - pressedAt.current < SAME_PRESS_MS) return;
    pressedAt.current = performance.now();
    const lack = missing(schema, values);
    if (lack) {
      form.setFaults({ [lack.name]: lack.text });
      return focusField(lack.name);
    }
    const fault = await startRun(requestOf(form.model.id, schema, values) as Run['request'], parentTaskId);
    if (!fault?.param) return;
    form.setFaults({ [fault.param]: fault.message });
    focusField(fault.param.split(/[[.]/)[0] ?? '');
  }

  const draftOf = ({ request: { model, ...values } }: Run): Draft => ({ model, values });
  const actions = {
    mayCancel: may.cancel,
    onAgain: (run: Run) => void startRun(run.request),
    onEdit: (run: Run) => {
      form.replace(draftOf(run));
      focusField('prompt');
    },
    onVary: (run: Run, fileId: string) => {
      form.replace({ ...draftOf(run), values: { ...draftOf(run).values, reference_images: [fileId] } });
      focusField('prompt');
    },
    onCancel: (taskId: string) =>
      void mutate(CancelTask, { taskId }).then(
        ({ cancelTask }) => putTasks([toRow(cancelTask)]),
        (error: unknown) => report(asCallError(error).message, true),
      ),
  };
  useShortcuts({ 'mod+enter': () => void generate() });

  return (
    <Page title="Create">
      <div className={styles.layout}>
        <form
          ref={place}
          className={styles.form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void generate();
          }}
        >
          <div className={styles.scroll}>
            <Field
              label="Model"
              hint={form.model.description}
              aside={typicalS === null ? undefined : `~${typicalS.toFixed(1)} s`}
            >
              {(ids) => (
                <Select {...ids} value={form.model.id} onChange={(event) => form.choose(event.target.value)}>
                  {models.map(({ id, kind, available }) => (
                    <option key={id} value={id} disabled={!available}>
                      {id} · {kind.toLowerCase()}
                      {available ? '' : ' · not available'}
                    </option>
                  ))}
                </Select>
              )}
            </Field>
            {form.notes && (
              <div className={styles.note} role="status">
                <span>{form.notes.texts.join('; ')}</span>
                <Button variant="quiet" onClick={form.notes.undo}>
                  Undo
                </Button>
              </div>
            )}
            <SchemaForm
              key={form.model.id}
              schema={schema}
              values={form.values}
              faults={form.faults}
              onChange={form.set}
            />
          </div>
          <div className={styles.submit}>
            <div className={styles.submitRow}>
              <Button type="submit" variant="primary" disabled={!may.create}>
                Generate <kbd>{MOD}Enter</kbd>
              </Button>
            </div>
            {!may.create && <span className={styles.cost}>This key lacks the scope generations:write.</span>}
          </div>
        </form>
        <div className={styles.side}>
          <section className={styles.results} aria-label="Runs of this tab">
            {runs.length === 0 && (
              <Examples onChoose={(prompt) => (form.set('prompt', prompt), focusField('prompt'))} />
            )}
            {runs.map((run) => (
              <RunCard
                key={run.key}
                run={run}
                typicalS={run.request.model === form.model.id ? typicalS : null}
                actions={actions}
              />
            ))}
          </section>
          <CodePanel model={form.model.id} schema={schema} values={form.values} />
        </div>
      </div>
    </Page>
  );
}
