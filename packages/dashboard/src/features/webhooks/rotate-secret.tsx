import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useAction } from '../../parts/use-action.ts';
import { RotateSecret } from './webhooks.documents.ts';

const OVERLAPS = [
  { value: '0', label: 'At once' },
  { value: '1', label: '1 h' },
  { value: '24', label: '24 h' },
  { value: '168', label: '7 d' },
];

interface Props {
  endpointId: string;
  onDone(secret: string | null): void;
  onClose(): void;
}

/** Replaces the signing secret. Until the old secret ends, each event carries both signatures. */
export function RotateSecretDialog({ endpointId, onDone, onClose }: Props) {
  const [hours, setHours] = useState('24');
  const { busy, fault, act } = useAction();
  const rotate = () =>
    act(async () => {
      const { rotateWebhookSecret } = await mutate(RotateSecret, { id: endpointId, hours: Number(hours) });
      onDone(rotateWebhookSecret.secret);
    });
  return (
    <Dialog
      open
      title="Rotate the signing secret"
      text="Events carry the signatures of both secrets until the old one ends:"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy && 'Rotating…'} onClick={() => void rotate()}>
            Rotate secret
          </Button>
        </>
      }
    >
      <Segments label="The old secret ends after" value={hours} options={OVERLAPS} onChange={setHours} />
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
