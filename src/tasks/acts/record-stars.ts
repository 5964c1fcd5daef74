import type { RecordAct } from '../../auth/audit/audit-log.ts';
import { isKept, keptBytes, type Stars } from '../record/stars.ts';
import type { ShownTask } from '../record/task.entity.ts';

export const starsOf = ({ result, kept_at, collection }: ShownTask): Stars => ({
  result,
  kept: kept_at !== null,
  collection,
});

/**
 * Records a change of stars in the audit, without the names of collections. These are the customer's texts, which an
 * erasure would have to find in the audit.
 */
export async function recordStars(record: RecordAct, task: ShownTask, stars: Stars): Promise<void> {
  const before = starsOf(task);
  if (JSON.stringify(snapshotOf(before)) === JSON.stringify(snapshotOf(stars))) return;
  const isLess = !stars.kept || keptBytes(stars.result) < keptBytes(before.result);
  await record({
    action: isLess ? 'task.unkept' : 'task.kept',
    target: { type: 'task', id: task.id },
    before: snapshotOf(before),
    after: snapshotOf(stars),
  });
}

const snapshotOf = ({ result, kept }: Stars): Record<string, unknown> => ({
  kept,
  file_ids: (result ?? []).filter(isKept).map(({ id }) => id),
});
