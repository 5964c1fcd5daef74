import { useNavigate, useParams, useRouter, useSearch } from '@tanstack/react-router';
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
  const { view } = useSearch({ from: '/signed-in/batches/$batchId' });
  const navigate = useNavigate();
  const { history } = useRouter();
  const show = (fileId: string | null, replace: boolean) => {
    // Esc does the same as Back, unless the address led directly to the picture.
    if (!fileId && history.canGoBack()) return history.back();
    const search = fileId ? { view: fileId } : {};
    void navigate({ to: '/batches/$batchId', params: { batchId }, search, replace, resetScroll: false });
  };
  return (
    <Gate title="Batch" {...GATE}>
      {({ api_key: { scopes } }) => (
        <BatchPage key={batchId} batchId={batchId} scopes={scopes} fileId={view ?? null} onView={show} />
      )}
    </Gate>
  );
}
