import { ProvidersPage } from '../features/providers/providers-page.tsx';
import { Gate } from './gate.tsx';

export function ProvidersScreen() {
  return (
    <Gate title="Providers" scope="operations:read" what="see the instance">
      {() => <ProvidersPage />}
    </Gate>
  );
}
