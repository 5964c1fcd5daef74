import { createRootRoute, Link, Outlet } from '@tanstack/react-router';
import { asCallError } from '../api/errors.ts';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Page } from '../parts/page.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
  notFoundComponent: NotFound,
  errorComponent: ({ error, reset }) => (
    <Page title="Something failed">
      <ErrorPanel error={asCallError(error)} onRetry={reset} />
    </Page>
  ),
});

export function NotFound() {
  return (
    <main>
      <Page title="Nothing here">
        <EmptyState
          title="No screen has this address"
          action={
            <Link to="/create" className={buttonClass({ variant: 'primary' })}>
              Create
            </Link>
          }
        />
      </Page>
    </main>
  );
}
