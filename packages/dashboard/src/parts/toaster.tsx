import { X } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { cx } from './class-names.ts';
import { IconButton } from './icon-button.tsx';
import styles from './toaster.module.css';
import { currentReports, dismiss, onReports } from './toasts.ts';

export function Toaster() {
  const reports = useSyncExternalStore(onReports, currentReports);
  return (
    <div className={styles.toaster} role="status" aria-label="Reports">
      {reports.map(({ id, text, bad }) => (
        <div key={id} className={cx(styles.toast, bad && styles.bad)}>
          <span>{text}</span>
          <IconButton label="Dismiss" onClick={() => dismiss(id)}>
            <X />
          </IconButton>
        </div>
      ))}
    </div>
  );
}
