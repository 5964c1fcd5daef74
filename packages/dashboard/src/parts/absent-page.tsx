import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { buttonClass } from './button.tsx';
import { EmptyState } from './empty-state.tsx';
import { Page } from './page.tsx';

interface Props {
  title: string;
  /** What the address names and is not there. */
  absent: string;
  /** Why that may be. */
  children?: ReactNode;
  to: '/create' | '/tasks' | '/gallery' | '/batches' | '/keys' | '/webhooks';
  /** The name of the screen that the button leads to. */
  screen: string;
}

/** Says inside the shell that an address leads to nothing, and leads on. */
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
