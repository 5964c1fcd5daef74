import { Link } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import { useState } from 'react';
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
import { EndpointStatus } from './endpoint-status.tsx';
import { eventName } from './event-name.ts';
import { NewEndpoint } from './new-endpoint.tsx';
import { Endpoints } from './webhooks.documents.ts';

const COLUMNS = [{ label: 'Endpoint' }, { label: 'Events' }, { label: 'State' }, { label: 'Created' }];

/** Who is told when tasks end. */
export function WebhooksPage() {
  const { data, error, reload } = useQuery(Endpoints, {});
  const [isNew, setNew] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const endpoints = data?.webhookEndpoints ?? [];
  const add = (
    <Button variant="primary" onClick={() => setNew(true)}>
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
          <code>npm run darkroom -- listen</code> passes events on.
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
                  <bdi>{endpoint.url}</bdi>
                </Link>
                {endpoint.description && (
                  <div className={styles.muted}>
                    <bdi>{endpoint.description}</bdi>
                  </div>
                )}
              </>,
              endpoint.events.map(eventName).join(', '),
              <EndpointStatus key="state" endpoint={endpoint} />,
              <TimeAgo key="age" at={endpoint.createdAt} />,
            ],
          }))}
        />
      )}
      {isNew && (
        <NewEndpoint
          onClose={() => setNew(false)}
          onDone={(made) => {
            setNew(false);
            setSecret(made);
            void reload();
          }}
        />
      )}
      {secret && (
        <ShowOnce
          title="The signing secret"
          secret={secret}
          variable="DARKROOM_WEBHOOK_SECRET"
          onDone={() => setSecret(null)}
        />
      )}
    </Page>
  );
}
