import { type FormEvent, useRef, useState } from 'react';
import { asCallError, type CallError } from '../../api/errors.ts';
import { startSession } from '../../api/session.ts';
import { keepTyped, takeTyped } from '../../keys/typed-ahead.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Countdown } from '../../parts/countdown.tsx';
import { Field } from '../../parts/field.tsx';
import { SecretInput } from '../../parts/secret-input.tsx';
import { keyFault } from './key-format.ts';
import styles from './sign-in.module.css';

const WORDS: Record<string, string> = {
  invalid_api_key: 'No API key of this instance is like this one. Copy it again, whole.',
  api_key_revoked: 'This API key was revoked. Ask for a new one.',
  api_key_expired: 'This API key has expired. Ask for a new one.',
  no_response: 'The service does not answer.',
};

/** Signs in with an API key. The browser does not store the key. */
export function SignInForm({ onDone }: { onDone(): void }) {
  const input = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const [fault, setFault] = useState<Pick<CallError, 'message' | 'code' | 'retryAfterS'> | null>(null);

  async function submit(event?: FormEvent<HTMLFormElement>) {
    event?.preventDefault();
    const form = input.current?.form;
    if (busy || !form || !input.current) return;
    const key = input.current.value.trim();
    const wrong = keyFault(key);
    if (wrong) return refuse({ message: wrong, code: 'malformed', retryAfterS: null });
    setBusy(true);
    keepTyped();
    try {
      await startSession({ api_key: key }, new FormData(form).has('remember'));
      onDone();
    } catch (error) {
      const { message, code, retryAfterS } = asCallError(error);
      const pause = code === 'no_response' ? 4 : retryAfterS;
      refuse({ message: WORDS[code] ?? message, code, retryAfterS: pause });
    } finally {
      setBusy(false);
    }
  }

  function refuse(why: Pick<CallError, 'message' | 'code' | 'retryAfterS'>) {
    takeTyped();
    setFault(why);
    input.current?.focus();
  }

  const waits = fault?.retryAfterS ?? null;
  return (
    <form className={styles.form} onSubmit={(event) => void submit(event)} noValidate>
      <Field label="API key" error={fault?.message}>
        {(ids) => (
          <SecretInput
            {...ids}
            ref={input}
            name="key"
            placeholder="dr_…"
            autoFocus
            required
            autoComplete="current-password"
          />
        )}
      </Field>
      <Checkbox name="remember">Keep me signed in here</Checkbox>
      <Button
        type="submit"
        variant="primary"
        wide
        busy={busy && 'Signing in…'}
        disabled={waits !== null && fault?.code !== 'no_response'}
      >
        {fault?.code === 'no_response' ? 'Try now' : 'Sign in'}
      </Button>
      {waits !== null && (
        <p className={styles.help} role="status">
          <Countdown
            key={fault?.message}
            seconds={waits}
            before={fault?.code === 'no_response' ? 'Trying again in ' : 'You can try again in '}
            onEnd={() => (fault?.code === 'no_response' ? void submit() : setFault(null))}
          />
        </p>
      )}
    </form>
  );
}
