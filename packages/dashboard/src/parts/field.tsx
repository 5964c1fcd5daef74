import { type ReactNode, useId } from 'react';
import styles from './field.module.css';

export interface ControlIds {
  id: string;
  'aria-describedby': string | undefined;
  'aria-invalid': true | undefined;
}

interface Props {
  label: string;
  /** The name of the field in the API. */
  name?: string;
  /** Whether to show the name beside the label. */
  showsName?: boolean;
  hint?: ReactNode;
  error?: string | null | undefined;
  aside?: ReactNode;
  children(ids: ControlIds): ReactNode;
}

/** A control with its label, a hint, and its error. */
export function Field({ label, name, showsName = false, hint, error, aside, children }: Props) {
  const id = useId();
  const hintId = `${id}-hint`;
  const errorId = `${id}-error`;
  const described = [error ? errorId : '', hint ? hintId : ''].filter(Boolean).join(' ');
  return (
    <div className={styles.field} data-field={name}>
      <div className={styles.head}>
        <label className={styles.label} htmlFor={id} id={`${id}-label`}>
          {label}
          {name && showsName && <span className={styles.name}>{name}</span>}
        </label>
        {aside && <span className={styles.aside}>{aside}</span>}
      </div>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {error && (
        <p className={styles.error} id={errorId} role="alert">
          {error}
        </p>
      )}
      {hint && (
        <p className={styles.hint} id={hintId}>
          {hint}
        </p>
      )}
    </div>
  );
}
