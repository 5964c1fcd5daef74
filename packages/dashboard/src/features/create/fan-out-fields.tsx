import { useId, useState } from 'react';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Field } from '../../parts/field.tsx';
import { Stepper } from '../../parts/stepper.tsx';
import styles from './schema-form.module.css';
import { type Fan, MAX_ALSO, MAX_REPEAT, type Target } from './fan-out.ts';

interface Props {
  /** The other models that can get the same request. */
  others: readonly { id: string }[];
  fan: Fan;
  targets: readonly Target[];
  onChange(fan: Fan): void;
}

/** The choice to send the same request to further models, or several times. Each run is one task. */
export function FanOutFields(props: Props) {
  const { fan } = props;
  const [open, setOpen] = useState(fan.also.length > 0 || fan.repeat > 1);
  return (
    <details className={styles.more} open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Several at once
        <span className={styles.moreNames}>{summaryOf(fan) || 'also on other models, repeat'}</span>
      </summary>
      <FanOutControls {...props} />
    </details>
  );
}

export function FanOutControls({ others, fan, targets, onChange }: Props) {
  const notesId = useId();
  const notes = targets.flatMap((target) => target.notes);
  const toggle = (id: string, on: boolean) =>
    onChange({ ...fan, also: on ? [...fan.also, id] : fan.also.filter((each) => each !== id) });
  return (
    <div className={styles.fields}>
      {others.length > 0 && (
        <fieldset className={styles.also} aria-describedby={notesId}>
          <legend>Also on</legend>
          {others.map(({ id }) => (
            <Checkbox
              key={id}
              checked={fan.also.includes(id)}
              disabled={!fan.also.includes(id) && fan.also.length >= MAX_ALSO}
              onChange={(event) => toggle(id, event.target.checked)}
            >
              {id}
            </Checkbox>
          ))}
          <p id={notesId} className={styles.alsoNotes}>
            {notes.join('; ')}
          </p>
        </fieldset>
      )}
      <Field label="Repeat" hint="One task a run. The sandbox makes the same picture each time.">
        {(ids) => (
          <Stepper
            label="Repeat"
            ids={ids}
            value={fan.repeat}
            min={1}
            max={MAX_REPEAT}
            onChange={(repeat) => onChange({ ...fan, repeat })}
          />
        )}
      </Field>
    </div>
  );
}

const summaryOf = ({ also, repeat }: Fan): string =>
  [also.length > 0 ? also.join(', ') : '', repeat > 1 ? `${repeat} times` : ''].filter(Boolean).join(' · ');
