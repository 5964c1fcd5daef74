import { type ReactNode, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';
import { TextInput } from './text-input.tsx';
import { report } from './toasts.ts';
import { useAction } from './use-action.ts';

const MAX_REASON = 500;

interface Props {
  title: string;
  text: string;
  /** The text of the button that acts, and its text while it acts. */
  button: string;
  busy: string;
  /** The text of the button that only closes the dialog. */
  leave: string;
  required?: boolean;
  children?: ReactNode;
  /** @returns the text to report */
  onDo(reason: string | undefined): Promise<string>;
  onClose(): void;
}

/** Asks an operator to confirm an action and to give a reason. */
export function ReasonDialog({ title, text, button, busy, leave, required = false, children, onDo, onClose }: Props) {
  const [typed, setReason] = useState('');
  const { busy: isActing, fault, act } = useAction();
  const reason = typed.trim();
  const isReady = reason !== '' || !required;
  const run = () =>
    act(async () => {
      report(await onDo(reason === '' ? undefined : reason));
      onClose();
    });
  return (
    <Dialog
      open
      title={title}
      text={text}
      onClose={isActing ? undefined : onClose}
      actions={
        <>
          <Button disabled={isActing} onClick={onClose}>
            {leave}
          </Button>
          <Button variant="danger" disabled={!isReady} busy={isActing && busy} onClick={() => void run()}>
            {button}
          </Button>
        </>
      }
    >
      <Field label="Why" hint={`Other operators read it.${required ? '' : ' It may stay empty.'}`}>
        {(ids) => (
          <TextInput
            {...ids}
            autoFocus
            maxLength={MAX_REASON}
            value={typed}
            onChange={(event) => setReason(event.target.value)}
            // Without a reason only the button acts, because a held Enter would confirm before the user has read the
            // question.
            onKeyDown={({ key, repeat, nativeEvent }) =>
              key === 'Enter' && !repeat && !nativeEvent.isComposing && reason !== '' && void run()
            }
          />
        )}
      </Field>
      {children}
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
