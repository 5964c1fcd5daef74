import { createRoute, useNavigate } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { SignInPage } from '../features/session/sign-in-page.tsx';
import { useTitle } from './title.ts';
import { rootRoute } from './root.tsx';
import { parseSearch, pick } from './search.ts';

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: 'sign-in',
  validateSearch: pick('next'),
  component: SignIn,
});

function SignIn() {
  useTitle('Sign in');
  const { next } = signInRoute.useSearch();
  const navigate = useNavigate();
  const [code] = useState(() => new URLSearchParams(location.hash.slice(1)).get('code'));
  // Only a path of this app is accepted, because a link to this page must not lead to another site.
  const target = next?.startsWith('/') && !next.startsWith('//') ? next : '/create';
  const onDone = useCallback(() => {
    const { pathname, search } = new URL(target, location.origin);
    void navigate({ to: pathname, search: parseSearch(search), replace: true });
  }, [navigate, target]);
  return <SignInPage code={code} onDone={onDone} />;
}
