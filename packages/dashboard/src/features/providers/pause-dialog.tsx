import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { report } from '../../parts/toasts.ts';
import { useAction } from '../../parts/use-action.ts';
import { CreatePause } from './providers.documents.ts';

/** What is paused: a model, or one place of a provider. */
export type Target = { model: string } | { place: number; provider: string };

interface Props {
  target: Target;
  onClose(): void;
  onDone(): void;
}

const MAX_REASON = 500;

/** Asks why. What runs goes on; what waits is held until somebody ends the pause. */
export function PauseDialog({ target, onClose, onDone }: Props) {
  const [reason, setReason] = useState('');
  const [refuseCreates, setRefuses] = useState(false);
  const { busy, fault, act } = useAction();
  const name = 'model' in target ? target.model : target.provider;
  const pause = () =>
    act(async () => {
      const of = 'model' in target ? { model: target.model } : { place: target.place };
      await mutate(CreatePause, { input: { ...of, reason: reason.trim(), refuseCreates } });
      report(`${name} is paused.`);
      onDone();
      onClose();
    });
  return (
    <Dialog
      open
      title={`Pause ${name}?`}
      text="No waiting task starts there until the pause ends. What runs goes on."
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Leave it on</Button>
          <Button
            variant="danger"
            disabled={reason.trim() === ''}
            busy={busy && 'Pausing…'}
            onClick={() => void pause()}
          >
            Pause
          </Button>
        </>
      }
    >
      <Field label="Why" hint="Other operators read it.">
        {(ids) => (
          <TextInput
            {...ids}
            autoFocus
            maxLength={MAX_REASON}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && reason.trim() !== '' && void pause()}
          />
        )}
      </Field>
      <Checkbox checked={refuseCreates} onChange={(event) => setRefuses(event.target.checked)}>
        Refuse new tasks that could not start
      </Checkbox>
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
