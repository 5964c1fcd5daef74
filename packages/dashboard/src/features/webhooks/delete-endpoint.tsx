import { mutate } from '../../api/client.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { useAction } from '../../parts/use-action.ts';
import { DeleteEndpoint, type Endpoint } from './webhooks.documents.ts';

interface Props {
  endpoint: Endpoint;
  onDone(): void;
  onClose(): void;
}

export function DeleteEndpointDialog({ endpoint: { id, url }, onDone, onClose }: Props) {
  const { busy, fault, act } = useAction();
  const remove = () =>
    act(async () => {
      await mutate(DeleteEndpoint, { id });
      onDone();
    });
  return (
    <Dialog
      open
      title="Delete this endpoint?"
      text={
        <>
          <bdi>{url}</bdi> gets no more events. What waits for it is not sent, and its log is deleted.
        </>
      }
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button variant="danger" busy={busy && 'Deleting…'} onClick={() => void remove()}>
            Delete endpoint
          </Button>
        </>
      }
    >
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
