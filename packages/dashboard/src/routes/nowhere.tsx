import { createRoute } from '@tanstack/react-router';
import { AbsentPage } from '../parts/absent-page.tsx';
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
    <AbsentPage title="Nothing here" absent="No screen has this address" to="/create" screen="Create">
      The menu and the search lead to all there are.
    </AbsentPage>
  );
}
