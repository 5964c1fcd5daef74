import { ConnectPage } from '../features/connect/connect-page.tsx';
import { Gate } from './gate.tsx';

export function ConnectScreen() {
  return (
    <Gate title="Connect">
      {({ api_key: { scopes } }) => (
        <ConnectPage mayRead={scopes.includes('tasks:read')} mayManageKeys={scopes.includes('keys:manage')} />
      )}
    </Gate>
  );
}
