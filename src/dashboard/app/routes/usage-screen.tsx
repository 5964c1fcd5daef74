import { useNavigate, useSearch } from '@tanstack/react-router';
import { isRange, UsagePage } from '../features/usage/usage-page.tsx';
import { Gate } from './gate.tsx';

export function UsageScreen() {
  const { range } = useSearch({ from: '/signed-in/usage' });
  const navigate = useNavigate();
  return (
    <Gate title="Usage" scope="tasks:read" what="see usage">
      {() => (
        <UsagePage
          range={isRange(range) ? range : '24h'}
          onRange={(next) => void navigate({ to: '/usage', search: { range: next } })}
        />
      )}
    </Gate>
  );
}
