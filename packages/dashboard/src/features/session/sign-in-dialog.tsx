import { restore } from '../../api/session.ts';
import { takeTyped } from '../../keys/typed-ahead.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { SignInForm } from './sign-in-form.tsx';

/** Shown over the page when its session has ended. With the same key the page stays; another key gets a new page. */
export function SignInDialog({ onDone }: { onDone(): void }) {
  return (
    <Dialog
      open
      title="You are signed out"
      text="The session has ended, or its API key is no longer valid. With the same key you go on where you were."
    >
      <SignInForm
        onDone={() => {
          takeTyped(); // drops what was typed, because the page below has fields of its own
          void restore().then(onDone);
        }}
      />
    </Dialog>
  );
}
