import { Checkbox } from '../../parts/checkbox.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Id } from '../../parts/id.tsx';
import { Pager, type PagerProps } from '../../parts/pager.tsx';
import styles from '../../parts/stat.module.css';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { Act } from './providers.documents.ts';

const ACTORS = { API_KEY: 'key', COMMAND_LINE: 'command line', SERVICE: 'service' };

interface Props {
  acts: readonly Act[];
  pager: PagerProps;
  /** Whether the list also shows what API keys have kept and shared. */
  withMakers: boolean;
  onWithMakers(withMakers: boolean): void;
}

/** The operations on the instance and who did them, newest first. */
export function LatestActs({ acts, pager, withMakers, onWithMakers }: Props) {
  return (
    <section className={styles.section}>
      <div className={styles.row}>
        <h2>Who did what</h2>
        <Checkbox checked={withMakers} onChange={() => onWithMakers(!withMakers)}>
          Kept and shared too
        </Checkbox>
      </div>
      {acts.length === 0 ? (
        <EmptyState title={pager.onNewer ? 'Nothing is older' : 'Nobody has changed anything yet'} />
      ) : (
        <Table
          label="Who did what"
          columns={[{ label: 'Act' }, { label: 'On' }, { label: 'Why' }, { label: 'By' }, { label: 'When' }]}
          rows={acts.map(({ id, action, targetId, actorType, actorId, before, after, createdAt }) => ({
            key: id,
            cells: [
              action.toLowerCase().replaceAll('_', ' '),
              <bdi key="on">{targetOf(after) ?? targetOf(before) ?? filterOf(before) ?? targetId}</bdi>,
              <bdi key="why">{textOf(after, 'reason') ?? '–'}</bdi>,
              actorId ? <Id key="by" id={actorId} /> : ACTORS[actorType],
              <TimeAgo key="when" at={createdAt} />,
            ],
          }))}
        />
      )}
      <Pager of="acts" {...pager} />
    </section>
  );
}

const targetOf = (after: unknown): string | null => textOf(after, 'model') ?? textOf(after, 'provider');

/** The filter of an act on many tasks, in words. */
function filterOf(before: unknown): string | null {
  const { filter } = (before ?? {}) as { filter?: Record<string, unknown> };
  if (!filter) return null;
  const conditions = Object.entries(filter).filter(([, value]) => value !== null);
  return `tasks with ${conditions.map(([name, value]) => `${name.replaceAll('_', ' ')} ${value}`).join(', ')}`;
}

function textOf(after: unknown, name: string): string | null {
  const value = (after as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value : null;
}
