import { lazy, Suspense, useEffect, useState } from 'react';
import { asCallError } from '../../api/errors.ts';
import { part } from '../../api/late-part.ts';
import { startSession } from '../../api/session.ts';
import { keepTyped, takeTyped } from '../../keys/typed-ahead.ts';
import { Lamp } from '../../parts/lamp.tsx';
import styles from './sign-in.module.css';

/** Loaded only when needed: a printed link signs in without the form. */
const SignInForm = lazy(part(() => import('./sign-in-form.tsx').then(({ SignInForm: it }) => ({ default: it }))));

interface Props {
  /** The one-time code of the link that the service prints; null: none. */
  code: string | null;
  onDone(): void;
}

export function SignInPage({ code, onDone }: Props) {
  const [spending, setSpending] = useState(code !== null);
  const [spent, setSpent] = useState<string | null>(null);

  useEffect(() => {
    if (code === null) return;
    // The code leaves the address first, because the history of the browser would keep it.
    history.replaceState(history.state, '', location.pathname + location.search);
    keepTyped();
    startSession({ code }, false).then(onDone, (error: unknown) => {
      takeTyped();
      setSpending(false);
      const { code: why, message } = asCallError(error);
      setSpent(why === 'no_response' ? message : 'This link was used already, or is older than 10 minutes.');
    });
  }, [code, onDone]);

  return (
    <main className={styles.screen}>
      <div className={styles.card}>
        <h1 className={styles.brand}>
          <Lamp lit={spending} size={26} /> Darkroom
        </h1>
        {spending ? (
          <p role="status">Signing in…</p>
        ) : (
          <>
            {spent && <p role="alert">{spent} Sign in with an API key.</p>}
            <Suspense>
              <SignInForm onDone={onDone} />
            </Suspense>
            <p className={styles.help}>
              The key was printed at the first start. <code>npx darkroom keys create</code> makes another,{' '}
              <code>npx darkroom open</code> a link that signs in.
            </p>
          </>
        )}
      </div>
    </main>
  );
}
