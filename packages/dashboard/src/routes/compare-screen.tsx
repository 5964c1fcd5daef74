import { useNavigate, useSearch } from '@tanstack/react-router';
import { ComparePage } from '../features/compare/compare-page.tsx';
import { Gate } from './gate.tsx';
import { useSession } from './signed-in.tsx';

export function CompareScreen() {
  const search = useSearch({ from: '/signed-in/compare' });
  const navigate = useNavigate();
  const scopes = useSession()?.api_key.scopes ?? [];
  return (
    <Gate title="Compare" scope="tasks:read" what="see what was made">
      {() => (
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
