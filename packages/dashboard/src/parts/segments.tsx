import { type ReactNode, useId } from 'react';
import styles from './control.module.css';

interface Props<Value extends string> {
  label: string;
  value: Value | null;
  options: readonly { value: Value; label: ReactNode; title?: string }[];
  onChange(value: Value): void;
  disabled?: boolean;
}

/** A choice among a few values, all visible. */
export function Segments<Value extends string>({ label, value, options, onChange, disabled }: Props<Value>) {
  const name = useId();
  return (
    <div className={styles.segments} role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option.value} ref={option.value === value ? reveal : undefined} title={option.title}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            disabled={disabled}
            onChange={() => onChange(option.value)}
          />
          {option.label}
        </label>
      ))}
    </div>
  );
}

/** Scrolls the row to the chosen value. On a phone the row has no room for all values. */
function reveal(label: HTMLLabelElement | null): void {
  const row = label?.parentElement;
  if (row) row.scrollLeft = label.offsetLeft - row.offsetLeft - (row.clientWidth - label.clientWidth) / 2;
}
