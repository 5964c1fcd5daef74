import { useNavigate, useParams } from '@tanstack/react-router';
import { EndpointPage } from '../features/webhooks/endpoint-page.tsx';
import { WebhooksPage } from '../features/webhooks/webhooks-page.tsx';
import { Gate } from './gate.tsx';

export function WebhooksScreen() {
  return (
    <Gate title="Webhooks" scope="webhooks:manage" what="manage webhooks">
      {() => <WebhooksPage />}
    </Gate>
  );
}

export function EndpointScreen() {
  const { endpointId } = useParams({ from: '/signed-in/webhooks/$endpointId' });
  const navigate = useNavigate();
  return (
    <Gate title="Webhook endpoint" scope="webhooks:manage" what="manage webhooks">
      {() => (
        <EndpointPage key={endpointId} endpointId={endpointId} onDeleted={() => void navigate({ to: '/webhooks' })} />
      )}
    </Gate>
  );
}
