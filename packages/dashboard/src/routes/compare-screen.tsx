import { useNavigate, useSearch } from '@tanstack/react-router';
import { ComparePage } from '../features/compare/compare-page.tsx';
import { Gate } from './gate.tsx';

export function CompareScreen() {
  const search = useSearch({ from: '/signed-in/compare' });
  const navigate = useNavigate();
  return (
    <Gate title="Compare" scope="tasks:read" what="see what was made">
      {({ api_key: { scopes } }) => (
        <ComparePage
          search={search}
          mayKeep={scopes.includes('generations:write')}
          onOutputs={(outputs) => void navigate({ to: '/compare', search: { outputs }, replace: true })}
          onView={(number) =>
            void navigate({
              to: '/compare',
              search: { ...search, view: number === null ? undefined : String(number) },
              replace: search.view !== undefined,
            })
          }
          onTask={(taskId, output) =>
            void navigate({ to: '/tasks/$taskId', params: { taskId }, search: { output: String(output) } })
          }
          onTasks={() => void navigate({ to: '/tasks' })}
        />
      )}
    </Gate>
  );
}
