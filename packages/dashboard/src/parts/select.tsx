import type { ComponentProps } from 'react';
import { cx } from './class-names.ts';
import styles from './control.module.css';

export function Select({ className, ...rest }: ComponentProps<'select'>) {
  return <select {...rest} className={cx(styles.control, styles.select, className)} />;
}
