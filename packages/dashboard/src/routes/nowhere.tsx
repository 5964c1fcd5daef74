import { createRoute, Link } from '@tanstack/react-router';
import { buttonClass } from '../parts/button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Page } from '../parts/page.tsx';
import { signedInRoute } from './signed-in.tsx';
import { useTitle } from './title.ts';

/** The route of every unknown address. It is drawn inside the shell, so that the user has the menu. */
export const nowhereRoute = createRoute({
  getParentRoute: () => signedInRoute,
  path: '$',
  component: Nowhere,
});

function Nowhere() {
  useTitle('Nothing here');
  return (
    <Page title="Nothing here">
      <EmptyState
        title="No screen has this address"
        action={
          <Link to="/create" className={buttonClass({ variant: 'primary' })}>
            Create
          </Link>
        }
      >
        The menu and the search lead to all there are.
      </EmptyState>
    </Page>
  );
}
