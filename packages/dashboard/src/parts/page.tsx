import type { ReactNode } from 'react';
import styles from './page.module.css';

interface Props {
  title: ReactNode;
  sub?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A screen with its heading, its actions at the right, and its content. */
export function Page({ title, sub, actions, children }: Props) {
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <div className={styles.title}>
          <h1>{title}</h1>
          {sub && <span className={styles.sub}>{sub}</span>}
        </div>
        {actions && <div className={styles.actions}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}
