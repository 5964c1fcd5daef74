import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { BatchPage } from '../features/batches/batch-page.tsx';
import { BatchesPage, isState } from '../features/batches/batches-page.tsx';
import { Gate } from './gate.tsx';

const GATE = { scope: 'tasks:read', what: 'see batches' } as const;

export function BatchesScreen() {
  const { state } = useSearch({ from: '/signed-in/batches' });
  const navigate = useNavigate();
  return (
    <Gate title="Batches" {...GATE}>
      {() => (
        <BatchesPage
          state={isState(state) ? state : 'all'}
          onState={(next) => void navigate({ to: '/batches', search: next === 'all' ? {} : { state: next } })}
        />
      )}
    </Gate>
  );
}

export function BatchScreen() {
  const { batchId } = useParams({ from: '/signed-in/batches/$batchId' });
  return (
    <Gate title="Batch" {...GATE}>
      {({ api_key: { scopes } }) => <BatchPage key={batchId} batchId={batchId} scopes={scopes} />}
    </Gate>
  );
}
