import type { ComponentProps, ReactNode } from 'react';
import styles from './control.module.css';

interface Props extends Omit<ComponentProps<'input'>, 'type' | 'children'> {
  children: ReactNode;
}

export function Checkbox({ children, ...rest }: Props) {
  return (
    <label className={styles.check}>
      <input type="checkbox" {...rest} />
      <span>{children}</span>
    </label>
  );
}
