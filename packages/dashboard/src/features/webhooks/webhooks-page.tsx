import { Link } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { useState } from 'react';
import { mutate } from '../../api/client.ts';
import { count, percent } from '../../format/numbers.ts';
import { useQuery } from '../../live/use-query.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { ShowOnce } from '../../parts/show-once.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import { EndpointForm } from './endpoint-form.tsx';
import { EndpointStatus } from './endpoint-status.tsx';
import { EndpointStrip } from './endpoint-strip.tsx';
import { eventName, SUBSCRIBED } from './event-name.ts';
import { CreateEndpoint, type Endpoint, Endpoints } from './webhooks.documents.ts';

const COLUMNS = [
  { label: 'Endpoint' },
  { label: 'Events' },
  { label: 'State' },
  { label: 'Last 24 h' },
  { label: 'Accepted', number: true },
  { label: 'Waiting', number: true },
  { label: 'Last answer' },
];

interface Props {
  isNew: boolean;
  onNew(isOpen: boolean): void;
  onMade(endpointId: string): void;
}

/** The webhook endpoints of the key. */
export function WebhooksPage({ isNew, onNew, onMade }: Props) {
  const { data, error, reload } = useQuery(Endpoints, {});
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const endpoints = data?.webhookEndpoints ?? [];
  const add = (
    <Button variant="primary" onClick={() => onNew(true)}>
      <Webhook aria-hidden /> New endpoint
    </Button>
  );
  return (
    <Page title="Webhooks" actions={endpoints.length > 0 && add}>
      {error && !data && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {!data && !error && <Skeleton height={200} />}
      {data && endpoints.length === 0 && (
        <EmptyState icon={<Webhook size={28} aria-hidden />} title="No endpoint yet" action={add}>
          An endpoint is a URL of yours that receives a signed POST when a task ends. On your own machine{' '}
          <code>npx darkroom listen</code> passes events on.
        </EmptyState>
      )}
      {endpoints.length > 0 && (
        <Table
          label="Webhook endpoints"
          columns={COLUMNS}
          rows={endpoints.map((endpoint) => ({
            key: endpoint.id,
            cells: [
              <>
                <Link to="/webhooks/$endpointId" params={{ endpointId: endpoint.id }}>
                  <bdi className={styles.breaks}>{endpoint.url}</bdi>
                </Link>
                {endpoint.description && (
                  <div className={styles.muted}>
                    <bdi>{endpoint.description}</bdi>
                  </div>
                )}
              </>,
              <span key="events" className={styles.scopes}>
                {endpoint.events.map((event) => (
                  <span key={event} className={styles.chip}>
                    {eventName(event)}
                  </span>
                ))}
              </span>,
              <EndpointStatus key="state" endpoint={endpoint} />,
              <EndpointStrip key="strip" endpoint={endpoint} />,
              acceptedShare(endpoint),
              count(endpoint.stats.waiting),
              <LastAnswer key="answer" endpoint={endpoint} />,
            ],
          }))}
        />
      )}
      {isNew && !made && (
        <EndpointForm
          title="New endpoint"
          initial={{ url: '', description: '', events: SUBSCRIBED.slice(0, 2) as Endpoint['events'] }}
          words={['Create endpoint', 'Creating…']}
          onClose={() => onNew(false)}
          onSave={async (input) => {
            const { id, secret } = (await mutate(CreateEndpoint, { input })).createWebhookEndpoint;
            // The address changes only after the user has saved the secret, because another screen cannot show it.
            if (secret) setMade({ id, secret });
          }}
        />
      )}
      {made && (
        <ShowOnce
          title="The signing secret"
          secret={made.secret}
          variable="DARKROOM_WEBHOOK_SECRET"
          onDone={() => onMade(made.id)}
        />
      )}
    </Page>
  );
}

/** The last answer, such as `500, 4 min ago`. */
function LastAnswer({ endpoint: { stats } }: { endpoint: Endpoint }) {
  const { lastAttemptedAt, lastStatusCode } = stats;
  if (lastAttemptedAt === null) return <>–</>;
  return (
    <>
      {lastStatusCode ?? 'none'}, <TimeAgo at={lastAttemptedAt} />
    </>
  );
}

/** The share of accepted events among those whose outcome is known: `99 % of 412`. */
function acceptedShare({ stats: { delivered, failed } }: Endpoint): string {
  const known = delivered + failed;
  return known === 0 ? '–' : `${percent(delivered / known)} of ${count(known)}`;
}
