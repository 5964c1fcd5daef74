import { createRootRoute, Outlet } from '@tanstack/react-router';
import { asCallError } from '../api/errors.ts';
import { isOutdated } from '../api/outdated.ts';
import { Button } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorPanel } from '../parts/error-panel.tsx';
import { Page } from '../parts/page.tsx';

export const rootRoute = createRootRoute({
  component: Outlet,
  errorComponent: ({ error, reset }) =>
    isOutdated() ? (
      <Updated />
    ) : (
      <Page title="Something failed">
        <ErrorPanel error={asCallError(error)} onRetry={reset} />
      </Page>
    ),
});

/** Asks before it reloads the page, because only the user knows whether this is a good moment. */
function Updated() {
  return (
    <main>
      <Page title="Darkroom was updated">
        <EmptyState
          title="This tab has an older version"
          action={
            <Button variant="primary" onClick={() => location.reload()}>
              Reload
            </Button>
          }
        >
          What you have typed is kept.
        </EmptyState>
      </Page>
    </main>
  );
}
