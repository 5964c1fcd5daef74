import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { useAction } from '../../parts/use-action.ts';
import { type Key, RevokeKey } from './keys.documents.ts';

interface Props {
  apiKey: Key;
  isOwn: boolean;
  onDone(): void;
  onClose(): void;
}

export function RevokeKeyDialog({ apiKey, isOwn, onDone, onClose }: Props) {
  const [typed, setTyped] = useState('');
  const { busy, fault, act } = useAction();
  const revoke = () =>
    act(async () => {
      await mutate(RevokeKey, { id: apiKey.id });
      onDone();
    });
  return (
    <Dialog
      open
      title={`Revoke ${apiKey.name}?`}
      text={`Calls with it fail from now on, its queued tasks are cancelled, its sign-ins end${isOwn ? ', this one too' : ''}. It cannot be undone.`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button
            variant="danger"
            busy={busy && 'Revoking…'}
            disabled={typed !== apiKey.name}
            onClick={() => void revoke()}
          >
            Revoke key
          </Button>
        </>
      }
    >
      <Field label={`Type ${apiKey.name} to confirm`} error={fault}>
        {(ids) => <TextInput {...ids} value={typed} autoFocus onChange={(event) => setTyped(event.target.value)} />}
      </Field>
    </Dialog>
  );
}
