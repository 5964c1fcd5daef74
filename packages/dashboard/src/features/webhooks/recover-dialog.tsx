import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { plural } from '../../format/numbers.ts';
import { useQuery } from '../../live/use-query.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Segments } from '../../parts/segments.tsx';
import { report } from '../../parts/toasts.ts';
import { useAction } from '../../parts/use-action.ts';
import { Missed, RecoverEndpoint } from './webhooks.documents.ts';

const HOUR = 3_600;
const SPANS = [
  { value: '1', label: 'The last hour' },
  { value: '24', label: '24 hours' },
  { value: '168', label: '7 days' },
  { value: '720', label: '30 days' },
];

interface Props {
  endpointId: string;
  onDone(): void;
  onClose(): void;
}

/** Sends again the events that the endpoint did not accept, after showing how many there are. */
export function RecoverDialog({ endpointId, onDone, onClose }: Props) {
  const [hours, setHours] = useState('24');
  const { data, error } = useQuery(Missed, { id: endpointId, hours: Number(hours) });
  const stats = data?.webhookEndpoint.stats;
  const missed = stats ? stats.failed + stats.waiting : null;
  const { busy, fault, act } = useAction();
  const recover = () =>
    act(async () => {
      const since = Math.floor(Date.now() / 1_000) - Number(hours) * HOUR;
      const { recoverWebhookEndpoint } = await mutate(RecoverEndpoint, { id: endpointId, since });
      report(`${plural(recoverWebhookEndpoint.events, 'event')} will be sent again.`);
      onDone();
    });
  return (
    <Dialog
      open
      title="Recover"
      text="Sends again what this endpoint has not accepted since:"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" busy={busy && 'Recovering…'} disabled={missed === 0} onClick={() => void recover()}>
            {missed === null || missed === 0 ? 'Send again' : `Send ${plural(missed, 'event')} again`}
          </Button>
        </>
      }
    >
      <Segments label="Since" value={hours} options={SPANS} onChange={setHours} />
      <p aria-live="polite">
        {error
          ? 'How many they are could not be counted.'
          : missed === null
            ? 'Counting…'
            : missed === 0
              ? 'It has accepted everything that was tried in this time.'
              : `${plural(stats?.failed ?? 0, 'event')} given up, ${stats?.waiting ?? 0} still waiting for a retry.`}
      </p>
      {fault && <p role="alert">{fault}</p>}
    </Dialog>
  );
}
