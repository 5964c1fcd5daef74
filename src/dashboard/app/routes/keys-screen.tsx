import { KeysPage } from '../features/keys/keys-page.tsx';
import { Gate } from './gate.tsx';

export function KeysScreen() {
  return (
    <Gate title="API keys" scope="keys:manage" what="manage API keys">
      {({ api_key: own }) => <KeysPage own={own} />}
    </Gate>
  );
}
