import type { ReactNode } from 'react';
import { cx } from './class-names.ts';
import styles from './panel.module.css';

interface Props {
  icon?: ReactNode;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}

export function EmptyState({ icon, title, children, action }: Props) {
  return (
    <div className={cx(styles.panel, styles.empty)}>
      {icon}
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {action && <div className={styles.actions}>{action}</div>}
    </div>
  );
}
