import type { ComponentProps } from 'react';
import { cx } from './class-names.ts';
import styles from './control.module.css';

/** A text area that grows with its text. */
export function TextArea({ className, ...rest }: ComponentProps<'textarea'>) {
  return <textarea {...rest} className={cx(styles.control, styles.area, className)} />;
}
