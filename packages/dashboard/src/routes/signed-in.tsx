import { createRoute, redirect, useNavigate, useRouter } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react';
import { part } from '../api/late-part.ts';
import { onSignIn, restore, signIn } from '../api/session.ts';
import { Shell } from '../features/shell/shell.tsx';
import { rootRoute } from './root.tsx';

const SignInDialog = lazy(
  part(() => import('../features/session/sign-in-dialog.tsx').then(({ SignInDialog: it }) => ({ default: it }))),
);

/** The parent of every screen that needs a session. */
export const signedInRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'signed-in',
  beforeLoad: async ({ location }) => {
    const known = signIn();
    const session = known.state === 'in' || known.state === 'lost' ? known.session : await restore();
    if (!session) throw redirect({ to: '/sign-in', search: { next: location.href } });
  },
  component: SignedIn,
});

/** The session of this browser, also a lost one, as it was read at the last sign-in; null: there is none. */
export function useSession() {
  const now = useSyncExternalStore(onSignIn, signIn);
  return now.state === 'in' || now.state === 'lost' ? now.session : null;
}

function SignedIn() {
  const session = useSession();
  const { state } = useSyncExternalStore(onSignIn, signIn);
  const navigate = useNavigate();
  const router = useRouter();
  useEffect(() => {
    if (state === 'out') void navigate({ to: '/sign-in' });
  }, [state, navigate]);
  if (!session) return null;
  return (
    <>
      {/* Another key gets new screens, because the old ones still hold what was typed and shown with the old key. */}
      <Shell key={session.api_key.id} session={session} />
      {state === 'lost' && (
        <Suspense>
          <SignInDialog onDone={() => void router.invalidate()} />
        </Suspense>
      )}
    </>
  );
}
