import type { ComponentProps } from 'react';
import { cx } from './class-names.ts';
import styles from './control.module.css';

export function TextInput({ className, ...rest }: ComponentProps<'input'>) {
  return <input type="text" autoComplete="off" {...rest} className={cx(styles.control, className)} />;
}
