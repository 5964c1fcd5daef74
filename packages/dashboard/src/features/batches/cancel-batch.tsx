import { mutate } from '../../api/client.ts';
import { plural } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { report } from '../../parts/toasts.ts';
import { useAction } from '../../parts/use-action.ts';
import { type Batch, CancelBatch } from './batches.documents.ts';

interface Props {
  batch: Batch;
  onClose(): void;
  onDone(): void;
}

export function CancelBatchDialog({ batch: { id, counts }, onClose, onDone }: Props) {
  const { busy, fault, act } = useAction();
  const unfinished = counts.queued + counts.running;
  const cancel = () =>
    act(async () => {
      await mutate(CancelBatch, { id });
      report('The batch is being cancelled.');
      onDone();
      onClose();
    });
  return (
    <Dialog
      open
      title="Cancel this batch?"
      text={`${plural(unfinished, 'item has', 'items have')} not ended. What has ended stays. A call that is under way may still be paid.`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Let it run</Button>
          <Button variant="danger" busy={busy && 'Cancelling…'} onClick={() => void cancel()}>
            Cancel {plural(unfinished, 'item')}
          </Button>
        </>
      }
    >
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
