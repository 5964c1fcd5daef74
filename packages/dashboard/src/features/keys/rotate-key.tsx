import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/segments.tsx';
import { useAction } from '../../parts/use-action.ts';
import { type Key, RotateKey } from './keys.documents.ts';

const OVERLAPS = [
  { value: '0', label: 'At once' },
  { value: '1', label: '1 h' },
  { value: '24', label: '24 h' },
  { value: '168', label: '7 d' },
];

export function RotateKeyDialog({
  apiKey,
  onDone,
  onClose,
}: {
  apiKey: Key;
  onDone(secret: string | null): void;
  onClose(): void;
}) {
  const [overlap, setOverlap] = useState('24');
  const { busy, fault, act } = useAction();
  const rotate = () =>
    act(async () => {
      const { rotateApiKey } = await mutate(RotateKey, { id: apiKey.id, overlapHours: Number(overlap) });
      onDone(rotateApiKey.key);
    });
  return (
    <Dialog
      open
      title={`Rotate ${apiKey.name}`}
      text="The key gets a new secret. Its tasks, webhooks and limits stay. The old secret ends:"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy && 'Rotating…'} onClick={() => void rotate()}>
            Rotate key
          </Button>
        </>
      }
    >
      <Segments label="The old secret ends after" value={overlap} options={OVERLAPS} onChange={setOverlap} />
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
