import { restore } from '../../api/session.ts';
import { takeTyped } from '../../keys/typed-ahead.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Shown over the page when its session has ended. What the user typed in the page stays. */
export function SignInDialog({ onDone }: { onDone(): void }) {
  return (
    <Dialog
      open
      title="You are signed out"
      text="The session has ended, or its API key is no longer valid. Sign in to go on where you were."
    >
      <SignInForm
        onDone={() => {
          takeTyped(); // dropped, because the page below has fields of its own
          void restore().then(onDone);
        }}
      />
    </Dialog>
  );
}
