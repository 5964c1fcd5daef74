import { type ReactNode, useState } from 'react';
import styles from './schema-form.module.css';
import { FormControl } from './form-control.tsx';
import { controlsOf, isSet, type ModelSchema, type Values } from './schema-rules.ts';

interface Props {
  schema: ModelSchema;
  values: Values;
  /** What is wrong with a field, by its name in the API. */
  faults: Record<string, string>;
  promptHint?: ReactNode;
  withNames?: boolean;
  /** Set if the prompt is shown elsewhere. */
  withoutPrompt?: boolean;
  onChange(name: string, value: unknown): void;
}

/** The fields of a model, drawn from its schema. */
export function SchemaForm({
  schema,
  values,
  faults,
  promptHint,
  withNames = false,
  withoutPrompt = false,
  onChange,
}: Props) {
  const [open, setOpen] = useState(false);
  const controls = controlsOf(schema, values).filter(({ kind }) => !(withoutPrompt && kind === 'prompt'));
  const extra = controls.filter((control) => control.extra);
  const own = controls.filter((control) => control.own);
  const draw = (control: (typeof controls)[number]) => (
    <FormControl
      key={control.name}
      control={control}
      value={values[control.name]}
      fault={faults[control.name] ?? null}
      faults={faults}
      promptHint={promptHint}
      withName={withNames}
      onChange={(value) => onChange(control.name, value)}
    />
  );
  return (
    <>
      {controls.filter((control) => !control.extra && !control.own).map(draw)}
      {own.length > 0 && (
        <fieldset className={styles.own}>
          <legend>Own parameters</legend>
          {own.map(draw)}
        </fieldset>
      )}
      {extra.length > 0 && (
        <details
          className={styles.more}
          open={open || extra.some(({ name }) => faults[name])}
          onToggle={(event) => setOpen(event.currentTarget.open)}
        >
          <summary>
            More options
            <span className={styles.moreNames}>
              {extra
                .filter((each) => isSet(each, values[each.name]))
                .map(({ label }) => label)
                .join(', ') || extra.map(({ label }) => label.toLowerCase()).join(', ')}
            </span>
          </summary>
          <div className={styles.fields}>{extra.map(draw)}</div>
        </details>
      )}
    </>
  );
}
