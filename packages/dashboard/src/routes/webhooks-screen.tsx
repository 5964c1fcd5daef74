import { useNavigate, useParams, useRouterState, useSearch } from '@tanstack/react-router';
import { EndpointPage } from '../features/webhooks/endpoint-page.tsx';
import { EventPage } from '../features/webhooks/event-page.tsx';
import { WebhooksPage } from '../features/webhooks/webhooks-page.tsx';
import { Gate } from './gate.tsx';

const GATE = { scope: 'webhooks:manage', what: 'manage webhooks' } as const;
/** Stands for the endpoint in an address, because an event is found by its id alone. */
const ANY_ENDPOINT = '-';

export function WebhooksScreen() {
  const navigate = useNavigate();
  const isNew = useRouterState({ select: ({ location }) => location.pathname.endsWith('/webhooks/new') });
  return (
    <Gate title="Webhooks" {...GATE}>
      {() => (
        <WebhooksPage
          isNew={isNew}
          onNew={(isOpen) => void navigate({ to: isOpen ? '/webhooks/new' : '/webhooks', replace: !isOpen })}
          onMade={(endpointId) => void navigate({ to: '/webhooks/$endpointId', params: { endpointId } })}
        />
      )}
    </Gate>
  );
}

export function EndpointScreen() {
  const { endpointId } = useParams({ from: '/signed-in/webhooks/$endpointId' });
  const search = useSearch({ from: '/signed-in/webhooks/$endpointId' });
  const navigate = useNavigate();
  return (
    <Gate title="Webhook endpoint" {...GATE}>
      {() => (
        <EndpointPage
          key={endpointId}
          endpointId={endpointId}
          search={search}
          onSearch={(next, isTyping = false) =>
            void navigate({
              to: '/webhooks/$endpointId',
              params: { endpointId },
              search: { ...next },
              replace: isTyping,
              resetScroll: false,
            })
          }
          onDeleted={() => void navigate({ to: '/webhooks' })}
        />
      )}
    </Gate>
  );
}

export function EventScreen() {
  const { endpointId, eventId } = useParams({ from: '/signed-in/webhooks/$endpointId/events/$eventId' });
  return (
    <Gate title="Webhook event" {...GATE}>
      {() => <EventPage key={eventId} eventId={eventId} endpointId={endpointId === ANY_ENDPOINT ? null : endpointId} />}
    </Gate>
  );
}
