import { restore } from '../../api/session.ts';
import { takeTyped } from '../../keys/typed-ahead.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Over the page when its session has ended. What was typed below stays. */
export function SignInDialog({ onDone }: { onDone(): void }) {
  return (
    <Dialog
      open
      title="You are signed out"
      text="The session has ended, or its API key is no longer valid. Sign in to go on where you were."
    >
      <SignInForm
        onDone={() => {
          takeTyped(); // below is a page with fields of its own
          void restore().then(onDone);
        }}
      />
    </Dialog>
  );
}
