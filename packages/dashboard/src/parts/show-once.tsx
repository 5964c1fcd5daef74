import { useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Checkbox } from './checkbox.tsx';
import { CodeBlock } from './code-block.tsx';
import { CopyButton } from './copy-button.tsx';
import { Dialog } from './dialog.tsx';
import styles from './stat.module.css';

interface Props {
  title: string;
  secret: string;
  /** The environment variable from which programs read the secret. */
  variable: string;
  onDone(): void;
}

/**
 * A secret that the service shows only once. The dialog can be closed only after the user confirms to have saved it.
 */
export function ShowOnce({ title, secret, variable, onDone }: Props) {
  const [saved, setSaved] = useState(false);
  const [asks, setAsks] = useState(false);
  const box = useRef<HTMLInputElement>(null);
  /**
   * Esc moves the focus to the confirmation and does not close the dialog, because the secret cannot be shown again.
   */
  const hold = () => {
    setAsks(true);
    box.current?.focus();
  };
  return (
    <Dialog
      open
      title={title}
      onHeld={hold}
      text="It is shown only now. Nobody can read it again, not even the service."
      actions={
        <Button variant="primary" disabled={!saved} onClick={onDone}>
          Done
        </Button>
      }
    >
      <CodeBlock code={secret} label="The secret" />
      <div className={styles.row}>
        <CopyButton text={secret} />
        <CopyButton text={`export ${variable}=${secret}`} label={`Copy as export ${variable}=…`} />
      </div>
      <Checkbox ref={box} checked={saved} onChange={(event) => setSaved(event.target.checked)}>
        I have saved it
      </Checkbox>
      {asks && !saved && <p role="alert">Save it first, then say so here. Closed, it is gone.</p>}
    </Dialog>
  );
}
