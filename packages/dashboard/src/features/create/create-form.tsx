import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { takeTyped } from '../../keys/typed-ahead.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { Page } from '../../parts/page.tsx';
import { report } from '../../parts/toasts.ts';
import { CodePanel } from './code-panel.tsx';
import type { Model } from './create.documents.ts';
import styles from './create.module.css';
import type { CreateSearch, May } from './create-search.ts';
import { Directives } from './directives.tsx';
import type { Draft } from './draft.ts';
import { othersOf, targetsOf } from './fan-out.ts';
import { FanOutFields } from './fan-out-fields.tsx';
import { ModelField } from './model-field.tsx';
import { RunList } from './run-list.tsx';
import { type Run, startRuns } from './runs.ts';
import { SchemaForm } from './schema-form.tsx';
import { controlsOf, missing, schemaOf } from './schema-rules.ts';
import { SubmitBar } from './submit-bar.tsx';
import { useForm } from './use-form.ts';

const CodeSheet = lazy(part(() => import('./code-sheet.tsx').then(({ CodeSheet: it }) => ({ default: it }))));

/** Two presses within this time are one. */
const SAME_PRESS_MS = 400;

/** Where the form stands above its results, as on a phone, the newest run is brought into sight. */
function showNewest(): void {
  if (!matchMedia('(max-width: 1023px)').matches) return;
  requestAnimationFrame(() => document.querySelector('[data-run]')?.scrollIntoView({ block: 'start' }));
}

interface Props {
  models: readonly [Model, ...Model[]];
  start: Draft;
  search: CreateSearch;
  may: May;
}

export function CreateForm({ models, start, search, may }: Props) {
  const form = useForm(models, start);
  const place = useRef<HTMLFormElement>(null);
  const pressedAt = useRef(-Infinity);
  const [hasCode, setCode] = useState(false);
  const { model, values, fan } = form;
  const schema = schemaOf(model);
  const targets = targetsOf(models, model, values, fan);

  const focusField = (name: string) =>
    place.current?.querySelector<HTMLElement>(`[data-field="${name}"] :is(textarea, input, select, button)`)?.focus();
  useEffect(() => {
    focusField('prompt');
    const typed = takeTyped();
    if (typed) form.set('prompt', String(values.prompt ?? '') + typed);
    // Once, when the field is there.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  useEffect(() => {
    if (search.ref) addReferences(search.ref.split(','));
    // The address names the reference once; the form holds it from then on.
    // oxlint-disable-next-line react/exhaustive-deps
  }, [search.ref]);

  function addReferences(fileIds: readonly string[]) {
    const target = controlsOf(schema, values).find(
      ({ kind, disabled }) => (kind === 'images' || kind === 'image') && disabled === null,
    );
    if (!target) return report(`${model.id} takes no reference image.`, true);
    const before = values[target.name];
    const known = Array.isArray(before) ? (before as string[]) : [];
    const all = [...new Set([...known, ...fileIds])].slice(0, target.schema.maxItems ?? 1);
    form.set(target.name, target.kind === 'image' ? fileIds[0] : all);
  }

  async function generate() {
    if (!may.create || performance.now() - pressedAt.current < SAME_PRESS_MS) return;
    pressedAt.current = performance.now();
    const lack = missing(schema, values);
    if (lack) {
      form.setFaults({ [lack.name]: lack.text });
      return focusField(lack.name);
    }
    const requests = targets.flatMap(({ request }) => Array.from({ length: fan.repeat }, () => request));
    const started = startRuns(requests, form.parent);
    showNewest();
    const [fault] = await started;
    if (!fault?.param) return;
    if (fault.param === 'parent_task_id') return form.forgetParent();
    form.setFaults({ [fault.param]: fault.message });
    focusField(fault.param.split(/[[.]/)[0] ?? '');
  }

  function edit({ taskId, request: { model: id, ...rest } }: Run, reference?: string) {
    form.replace({ model: id, parent: taskId, values: reference ? { ...rest, reference_images: [reference] } : rest });
    focusField('prompt');
  }
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
            <ModelField models={models} form={form} />
            <SchemaForm
              key={model.id}
              schema={schema}
              values={values}
              faults={form.faults}
              promptHint={model.sandbox ? <Directives prompt={String(values.prompt ?? '')} /> : undefined}
              onChange={form.set}
            />
            <FanOutFields others={othersOf(models, model)} fan={fan} targets={targets} onChange={form.setFan} />
          </div>
          <SubmitBar
            models={models}
            targets={targets}
            repeat={fan.repeat}
            mayCreate={may.create}
            onCode={() => setCode(true)}
          />
        </form>
        <div className={styles.side}>
          <RunList
            models={models}
            mayCancel={may.cancel}
            onExample={(prompt) => (form.set('prompt', prompt), focusField('prompt'))}
            onEdit={edit}
          />
          <CodePanel model={model.id} schema={schema} values={values} />
        </div>
      </div>
      {hasCode && (
        <Suspense>
          <CodeSheet model={model.id} schema={schema} values={values} onClose={() => setCode(false)} />
        </Suspense>
      )}
    </Page>
  );
}
