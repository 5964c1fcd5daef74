import { ProvidersPage } from '../features/providers/providers-page.tsx';
import { Gate } from './gate.tsx';

export function ProvidersScreen() {
  return (
    <Gate title="Providers" scope="operations:read" what="see the instance">
      {({ api_key: { scopes } }) => <ProvidersPage mayAct={scopes.includes('operations:manage')} />}
    </Gate>
  );
}
