import { X } from 'lucide-react';
import { IconButton } from '../../parts/icon-button.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { FormCode } from './form-code.tsx';
import type { Model } from './create.documents.ts';
import styles from './drawer.module.css';
import { DRAWER_TITLES, type DrawerTab } from './drawer-tab.ts';
import { othersOf, type Target } from './fan-out.ts';
import { FanOutFields } from './fan-out-fields.tsx';
import { ModelField } from './model-field.tsx';
import type { PastPrompt } from './past-prompts.ts';
import { PresetBar } from './preset-bar.tsx';
import type { Preset } from './presets.ts';
import { SchemaForm } from './schema-form.tsx';
import { schemaOf } from './schema-rules.ts';
import type { Form } from './use-form.ts';

export interface DrawerProps {
  tab: DrawerTab;
  models: readonly Model[];
  form: Form;
  targets: readonly Target[];
  past: readonly PastPrompt[];
  onPrompt(prompt: string): void;
  onPreset(preset: Preset): void;
}

/** The drawer: the code of the request, all its settings, or earlier prompts. */
export function Drawer({ onClose, ...props }: DrawerProps & { onClose(): void }) {
  return (
    <aside className={styles.drawer} aria-label={DRAWER_TITLES[props.tab]}>
      <header className={styles.head}>
        <h2>{DRAWER_TITLES[props.tab]}</h2>
        <IconButton label={`Close ${DRAWER_TITLES[props.tab]}`} onClick={onClose}>
          <X />
        </IconButton>
      </header>
      <DrawerContent {...props} />
    </aside>
  );
}

export function DrawerContent({ tab, models, form, targets, past, onPrompt, onPreset }: DrawerProps) {
  const { model, values, faults, fan } = form;
  const schema = schemaOf(model);
  if (tab === 'code') {
    return (
      <div className={styles.body}>
        <FormCode model={model.id} schema={schema} values={values} />
      </div>
    );
  }
  if (tab === 'history') {
    return (
      <ul className={styles.body}>
        {past.length === 0 && <li className={styles.none}>Nothing was asked for yet.</li>}
        {past.map(({ prompt, model: of, at }) => (
          <li key={prompt}>
            <button type="button" className={styles.past} onClick={() => onPrompt(prompt)}>
              <bdi>{prompt}</bdi>
              <span>
                {of} · <TimeAgo at={at} />
              </span>
            </button>
          </li>
        ))}
      </ul>
    );
  }
  return (
    <div className={styles.body}>
      <PresetBar form={form} onUse={onPreset} />
      <ModelField models={models} form={form} />
      <SchemaForm
        key={model.id}
        schema={schema}
        values={values}
        faults={faults}
        withNames
        withoutPrompt
        onChange={form.set}
      />
      <FanOutFields others={othersOf(models, model)} fan={fan} targets={targets} onChange={form.setFan} />
    </div>
  );
}
