import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import { EmptyState } from './empty-state.tsx';
import { Page } from './page.tsx';

interface Props {
  title: string;
  /** Says what does not exist, such as `No task of yours has this id`. */
  absent: string;
  /** Why it may not exist. */
  children?: ReactNode;
  to: '/create' | '/tasks' | '/gallery' | '/batches' | '/keys' | '/webhooks';
  /** The name of the screen that the button leads to. */
  screen: string;
}

/** Says, inside the shell, that the address leads to nothing. A button leads to another screen. */
export function AbsentPage({ title, absent, children, to, screen }: Props) {
  return (
    <Page title={title}>
      <EmptyState
        title={absent}
        action={
          <Link to={to} className={buttonClass({ variant: 'primary' })}>
            {screen}
          </Link>
        }
      >
        {children}
      </EmptyState>
    </Page>
  );
}
