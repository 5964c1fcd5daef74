import { Dialog as BaseDialog } from '@base-ui/react/dialog';
import type { ReactNode } from 'react';
import { useFence } from '../keys/shortcuts.ts';
import { cx } from './class-names.ts';
import styles from './dialog.module.css';

interface Props {
  open: boolean;
  title: string;
  text?: ReactNode;
  wide?: boolean;
  actions?: ReactNode;
  children?: ReactNode;
  /** Without `onClose`, Esc and a press outside do not close the dialog. */
  onClose?: () => void;
  /** Called by Esc if there is no `onClose`. */
  onHeld?: () => void;
}

/** A modal dialog. It keeps the focus inside, and gives the focus back when it closes. */
export function Dialog({ open, title, text, wide, actions, children, onClose, onHeld }: Props) {
  useFence(open);
  return (
    <BaseDialog.Root
      open={open}
      onOpenChange={(next) => !next && (onClose ?? onHeld)?.()}
      disablePointerDismissal={!onClose}
    >
      <BaseDialog.Portal>
        <BaseDialog.Backdrop className={styles.dim} />
        <BaseDialog.Popup className={cx(styles.popup, wide && styles.wide)}>
          <BaseDialog.Title>{title}</BaseDialog.Title>
          {text && <BaseDialog.Description className={styles.text}>{text}</BaseDialog.Description>}
          {children && <div className={styles.body}>{children}</div>}
          {actions && <div className={styles.actions}>{actions}</div>}
        </BaseDialog.Popup>
      </BaseDialog.Portal>
    </BaseDialog.Root>
  );
}
