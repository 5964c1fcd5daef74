import { Ellipsis, History, Power, RotateCw, Send, Trash2 } from 'lucide-react';
import { useEffect, useState } from 'react';
import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { plural } from '../../format/numbers.ts';
import { useQuery } from '../../live/use-query.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { MenuButton } from '../../parts/menu-button.tsx';
import { Page } from '../../parts/page.tsx';
import { ShowOnce } from '../../parts/show-once.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { report } from '../../parts/toasts.ts';
import { DeliveryLog } from './delivery-log.tsx';
import { EndpointStatus } from './endpoint-status.tsx';
import {
  DeleteEndpoint,
  Deliveries,
  Endpoints,
  RecoverEndpoint,
  ResendEvent,
  RotateSecret,
  TestEndpoint,
  UpdateEndpoint,
} from './webhooks.documents.ts';

/** While the log is open it is read again at this pace. */
const READ_MS = 3_000;
const DAY = 86_400;

/** One endpoint: what was sent to it, and what came back. */
export function EndpointPage({ endpointId, onDeleted }: { endpointId: string; onDeleted(): void }) {
  const endpoints = useQuery(Endpoints, {});
  const log = useQuery(Deliveries, { endpointId, after: null });
  const [secret, setSecret] = useState<string | null>(null);
  const { reload: readLog } = log;
  const { reload: readEndpoints } = endpoints;
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void readLog(), READ_MS);
    return () => clearInterval(timer);
  }, [readLog]);

  const endpoint = endpoints.data?.webhookEndpoints.find(({ id }) => id === endpointId);
  async function act(work: () => Promise<string>) {
    try {
      report(await work());
      void readLog();
      void readEndpoints();
    } catch (error) {
      report(asCallError(error).message, true);
    }
  }
  const set = (status: 'ENABLED' | 'DISABLED') =>
    act(async () => {
      await mutate(UpdateEndpoint, { id: endpointId, input: { status } });
      return `The endpoint is ${status.toLowerCase()}.`;
    });
  const test = () =>
    act(async () => {
      await mutate(TestEndpoint, { id: endpointId });
      return 'A test event is on its way.';
    });
  const recover = () =>
    act(async () => {
      const since = Math.floor(Date.now() / 1_000) - DAY;
      const { recoverWebhookEndpoint } = await mutate(RecoverEndpoint, { id: endpointId, since });
      return `${plural(recoverWebhookEndpoint.events, 'event')} will be sent again.`;
    });
  const resend = (id: string) =>
    act(async () => {
      await mutate(ResendEvent, { id });
      return 'The event is sent again.';
    });
  const rotate = () =>
    act(async () => {
      const { rotateWebhookSecret } = await mutate(RotateSecret, { id: endpointId });
      setSecret(rotateWebhookSecret.secret);
      return 'The endpoint has a new secret.';
    });
  const remove = () =>
    act(async () => {
      await mutate(DeleteEndpoint, { id: endpointId });
      onDeleted();
      return 'The endpoint is deleted.';
    });
  if (endpoints.data && !endpoint) {
    return (
      <Page title="Webhook endpoint">
        <EmptyState title="No endpoint of yours has this id" />
      </Page>
    );
  }
  if (!endpoint)
    return (
      <Page title="Webhook endpoint">
        {endpoints.error ? (
          <ErrorPanel error={endpoints.error} onRetry={() => void readEndpoints()} />
        ) : (
          <Skeleton height={240} />
        )}
      </Page>
    );

  const enabled = endpoint.status === 'ENABLED';
  return (
    <Page
      title={<bdi>{endpoint.url}</bdi>}
      sub={<EndpointStatus endpoint={endpoint} />}
      actions={
        <>
          {!enabled && (
            <Button variant="primary" onClick={() => void set('ENABLED')}>
              <Power aria-hidden /> Enable again
            </Button>
          )}
          <Button disabled={!enabled} onClick={() => void test()}>
            <Send aria-hidden /> Send test
          </Button>
          <Button
            disabled={!enabled}
            title="Sends again what failed in the last 24 hours"
            onClick={() => void recover()}
          >
            <History aria-hidden /> Recover 24 h
          </Button>
          <MenuButton
            icon
            variant="quiet"
            label="More actions"
            trigger={<Ellipsis />}
            items={[
              { label: 'Rotate the secret', icon: <RotateCw />, onSelect: () => void rotate() },
              ...(enabled ? [{ label: 'Disable', icon: <Power />, onSelect: () => void set('DISABLED') }] : []),
              { label: 'Delete', icon: <Trash2 />, danger: true, line: true, onSelect: () => void remove() },
            ]}
          />
        </>
      }
    >
      {log.error && !log.data && <ErrorPanel error={log.error} onRetry={() => void readLog()} />}
      {log.data && (
        <DeliveryLog
          deliveries={log.data.webhookDeliveries.edges.map(({ node }) => node)}
          onResend={(id) => void resend(id)}
        />
      )}
      {secret && (
        <ShowOnce
          title="The new signing secret; the old one signs for 24 h more"
          secret={secret}
          variable="DARKROOM_WEBHOOK_SECRET"
          onDone={() => setSecret(null)}
        />
      )}
    </Page>
  );
}
