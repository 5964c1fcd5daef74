import { useState } from 'react';
import { Checkbox } from '../../parts/checkbox.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Id } from '../../parts/id.tsx';
import styles from '../../parts/stat.module.css';
import { Table } from '../../parts/table.tsx';
import { TimeAgo } from '../../parts/time-ago.tsx';
import type { Act } from './providers.documents.ts';

const ACTORS = { API_KEY: 'key', COMMAND_LINE: 'command line', SERVICE: 'service' };

const MOST_SHOWN = 20;
/** What keys do with their own tasks and files. */
const OF_MAKERS = /^(TASK|SHARE)_/;

/** Who did what to the instance, newest first. */
export function LatestActs({ acts: all }: { acts: readonly Act[] }) {
  const [withMakers, setWithMakers] = useState(false);
  const acts = all.filter(({ action }) => withMakers || !OF_MAKERS.test(action)).slice(0, MOST_SHOWN);
  return (
    <section className={styles.section}>
      <div className={styles.row}>
        <h2>Who did what</h2>
        <Checkbox checked={withMakers} onChange={() => setWithMakers(!withMakers)}>
          Kept and shared too
        </Checkbox>
      </div>
      {acts.length === 0 ? (
        <EmptyState
          title={
            all.length === 0 ? 'Nobody has changed anything yet' : `No operator's act is among the last ${all.length}`
          }
        />
      ) : (
        <Table
          label="Who did what"
          columns={[{ label: 'Act' }, { label: 'On' }, { label: 'Why' }, { label: 'By' }, { label: 'When' }]}
          rows={acts.map(({ id, action, targetId, actorType, actorId, before, after, createdAt }) => ({
            key: id,
            cells: [
              action.toLowerCase().replaceAll('_', ' '),
              <bdi key="on">{targetOf(after) ?? targetOf(before) ?? targetId}</bdi>,
              <bdi key="why">{textOf(after, 'reason') ?? '–'}</bdi>,
              actorId ? <Id key="by" id={actorId} /> : ACTORS[actorType],
              <TimeAgo key="when" at={createdAt} />,
            ],
          }))}
        />
      )}
    </section>
  );
}

const targetOf = (after: unknown): string | null => textOf(after, 'model') ?? textOf(after, 'provider');

function textOf(after: unknown, name: string): string | null {
  const value = (after as Record<string, unknown> | null)?.[name];
  return typeof value === 'string' ? value : null;
}
