import { useNavigate, useSearch } from '@tanstack/react-router';
import { isRange, UsagePage } from '../features/usage/usage-page.tsx';
import { isBy } from '../features/usage/usage-rows.ts';
import { Gate } from './gate.tsx';

export function UsageScreen() {
  const { range, by, view } = useSearch({ from: '/signed-in/usage' });
  const navigate = useNavigate();
  return (
    <Gate title="Usage" scope="tasks:read" what="see usage">
      {({ api_key: { id, scopes } }) => (
        <UsagePage
          choice={{
            range: isRange(range) ? range : '24h',
            by: isBy(by) ? by : 'model',
            view: view === 'table' ? 'table' : 'chart',
          }}
          ownId={id}
          maySeeAll={scopes.includes('keys:manage')}
          onChoice={(next) => void navigate({ to: '/usage', search: { ...next }, resetScroll: false })}
        />
      )}
    </Gate>
  );
}
