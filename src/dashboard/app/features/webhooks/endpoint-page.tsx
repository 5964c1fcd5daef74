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
  const act = (work: Promise<unknown>, done: (result: never) => string) =>
    void work.then(
      (result) => {
        report(done(result as never));
        void readLog();
        void readEndpoints();
      },
      (error: unknown) => report(asCallError(error).message, true),
    );
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
  const since = Math.floor(Date.now() / 1_000) - DAY;
  return (
    <Page
      title={<bdi>{endpoint.url}</bdi>}
      sub={<EndpointStatus endpoint={endpoint} />}
      actions={
        <>
          {!enabled && (
            <Button
              variant="primary"
              onClick={() =>
                act(
                  mutate(UpdateEndpoint, { id: endpointId, input: { status: 'ENABLED' } }),
                  () => 'The endpoint is enabled again.',
                )
              }
            >
              <Power aria-hidden /> Enable again
            </Button>
          )}
          <Button
            disabled={!enabled}
            onClick={() => act(mutate(TestEndpoint, { id: endpointId }), () => 'A test event is on its way.')}
          >
            <Send aria-hidden /> Send test
          </Button>
          <Button
            disabled={!enabled}
            title="Sends again what failed in the last 24 hours"
            onClick={() =>
              act(
                mutate(RecoverEndpoint, { id: endpointId, since }),
                ({ recoverWebhookEndpoint }: { recoverWebhookEndpoint: { events: number } }) =>
                  `${plural(recoverWebhookEndpoint.events, 'event')} will be sent again.`,
              )
            }
          >
            <History aria-hidden /> Recover 24 h
          </Button>
          <MenuButton
            icon
            variant="quiet"
            label="More actions"
            trigger={<Ellipsis />}
            items={[
              {
                label: 'Rotate the secret',
                icon: <RotateCw />,
                onSelect: () =>
                  void mutate(RotateSecret, { id: endpointId }).then(
                    ({ rotateWebhookSecret }) => setSecret(rotateWebhookSecret.secret),
                    (error: unknown) => report(asCallError(error).message, true),
                  ),
              },
              ...(enabled
                ? [
                    {
                      label: 'Disable',
                      icon: <Power />,
                      onSelect: () =>
                        act(
                          mutate(UpdateEndpoint, { id: endpointId, input: { status: 'DISABLED' } }),
                          () => 'The endpoint is disabled.',
                        ),
                    },
                  ]
                : []),
              {
                label: 'Delete',
                icon: <Trash2 />,
                danger: true,
                line: true,
                onSelect: () =>
                  act(mutate(DeleteEndpoint, { id: endpointId }).then(onDeleted), () => 'The endpoint is deleted.'),
              },
            ]}
          />
        </>
      }
    >
      {log.error && !log.data && <ErrorPanel error={log.error} onRetry={() => void readLog()} />}
      {log.data && (
        <DeliveryLog
          deliveries={log.data.webhookDeliveries.edges.map(({ node }) => node)}
          onResend={(id) => act(mutate(ResendEvent, { id }), () => 'The event is sent again.')}
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
