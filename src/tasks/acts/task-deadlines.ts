import { deadlineS } from '../../models/definition/model.ts';
import type { Config } from '../../platform/config/config.ts';
import { DAY_S } from '../../platform/schema/time.ts';
import type { NewTask } from '../sql/new-task.ts';
import type { ShownTask } from '../record/task.entity.ts';

type Settings = Pick<Config, 'taskDeadlineImageS' | 'taskDeadlineVideoS' | 'lowDeadlineS' | 'taskRetentionDays'>;

/**
 * How long a new task may wait, and how long it may run. Tasks of low priority and those of a batch are meant to wait,
 * though not for longer than their record is kept.
 * @param retentionDays of the record, for an API key that is known
 */
export function deadlinesOf(
  { kind, low, source }: Pick<ShownTask, 'kind' | 'low' | 'source'>,
  config: Settings,
  retentionDays = config.taskRetentionDays,
): Pick<NewTask, 'deadline_s' | 'run_deadline_s'> {
  const run_deadline_s = deadlineS(kind, config);
  if (!low && source !== 'batch') return { deadline_s: run_deadline_s };
  const longest = Math.min(config.lowDeadlineS, retentionDays * DAY_S);
  return { deadline_s: Math.max(longest, run_deadline_s), run_deadline_s };
}
