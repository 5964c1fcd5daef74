import { Link } from '@tanstack/react-router';
import { attemptWords } from '../../format/attempt.ts';
import { nowS } from '../../format/clock.ts';
import { resendEvent } from '../../live/resend-event.ts';
import { useQuery } from '../../live/use-query.ts';
import { Button } from '../../parts/button.tsx';
import { Countdown } from '../../parts/countdown.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Forbidden } from '../../parts/forbidden.tsx';
import { Id } from '../../parts/id.tsx';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { report } from '../../parts/toasts.ts';
import { useAction } from '../../parts/use-action.ts';
import { TaskDeliveries } from './task.documents.ts';
import styles from './task.module.css';

const COLUMNS = [
  { label: 'Event' },
  { label: 'Endpoint' },
  { label: 'Try', number: true },
  { label: 'Answer' },
  { label: 'When' },
  { label: 'Actions', hidden: true },
];

/** The webhook deliveries about the end of the task, and the answers to them. */
export function TaskDeliveriesTab({ taskId, allowed }: { taskId: string; allowed: boolean }) {
  const { data, error, reload } = useQuery(TaskDeliveries, allowed ? { taskId } : null);
  const { busy, fault, act } = useAction();
  if (!allowed) return <Forbidden scope="webhooks:manage" what="see deliveries" />;
  if (error && !data) return <ErrorPanel error={error} onRetry={() => void reload()} />;
  const deliveries = data?.task.webhookDeliveries ?? [];
  if (deliveries.length === 0)
    return (
      <p className={styles.caption}>
        {data ? 'No webhook was sent for this task: no enabled endpoint wanted its events.' : 'Loading…'}
      </p>
    );
  const resend = (id: string, endpointId: string) =>
    act(async () => {
      const { text, bad } = await resendEvent(id, endpointId, () => void reload());
      report(text, bad);
      await reload();
    });
  return (
    <>
      {fault && <p role="alert">{fault}</p>}
      <Table
        label="Deliveries"
        columns={COLUMNS}
        rows={deliveries.map((delivery) => ({
          key: delivery.id,
          cells: [
            delivery.eventType.toLowerCase().replace('_', '.'),
            <Link key="endpoint" to="/webhooks/$endpointId" params={{ endpointId: delivery.endpointId }}>
              <Id id={delivery.endpointId} />
            </Link>,
            delivery.attempt,
            attemptWords(delivery),
            delivery.attemptedAt ? (
              <TimeAgo key="when" at={delivery.attemptedAt} />
            ) : delivery.nextAttemptAt ? (
              <Countdown key="when" before="in " seconds={Math.max(0, delivery.nextAttemptAt - nowS())} />
            ) : (
              '–'
            ),
            delivery.attemptedAt ? (
              <Button key="again" disabled={busy} onClick={() => void resend(delivery.eventId, delivery.endpointId)}>
                Resend
              </Button>
            ) : null,
          ],
        }))}
      />
    </>
  );
}
