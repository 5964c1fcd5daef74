import { useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { KeyPage } from '../features/keys/key-page.tsx';
import { KeysPage } from '../features/keys/keys-page.tsx';
import { Gate } from './gate.tsx';

const GATE = { scope: 'keys:manage', what: 'manage API keys' } as const;

export function KeysScreen() {
  const navigate = useNavigate();
  const isNew = useRouterState({ select: ({ location }) => location.pathname.endsWith('/keys/new') });
  return (
    <Gate title="API keys" {...GATE}>
      {({ api_key: own }) => (
        <KeysPage
          own={own}
          isNew={isNew}
          onNew={(isOpen) => void navigate({ to: isOpen ? '/keys/new' : '/keys', replace: !isOpen })}
        />
      )}
    </Gate>
  );
}

export function KeyScreen() {
  const { keyId } = useParams({ from: '/signed-in/keys/$keyId' });
  const navigate = useNavigate();
  return (
    <Gate title="API key" {...GATE}>
      {({ api_key: own }) => (
        <KeyPage key={keyId} keyId={keyId} own={own} onRevoked={() => void navigate({ to: '/keys' })} />
      )}
    </Gate>
  );
}
