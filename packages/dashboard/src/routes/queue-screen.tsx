import { QueuePage } from '../features/queue/queue-page.tsx';
import { Gate } from './gate.tsx';

export function QueueScreen() {
  return (
    <Gate title="Queue and workers" scope="operations:read" what="see the instance">
      {({ api_key: { scopes } }) => <QueuePage mayAct={scopes.includes('operations:manage')} />}
    </Gate>
  );
}
