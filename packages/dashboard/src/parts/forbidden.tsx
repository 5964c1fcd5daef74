import { LockKeyhole } from 'lucide-react';
import { EmptyState } from './empty-state.tsx';

/** Names the missing scope. The page sends no call that would be refused. */
export function Forbidden({ scope, what }: { scope: string; what: string }) {
  return (
    <EmptyState icon={<LockKeyhole size={28} aria-hidden />} title={`This key may not ${what}`}>
      It lacks the scope <code>{scope}</code>. A key with <code>keys:manage</code> can make one that has it.
    </EmptyState>
  );
}
