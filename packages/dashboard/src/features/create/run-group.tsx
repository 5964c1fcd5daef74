import { Link } from '@tanstack/react-router';
import { SquareSplitHorizontal } from 'lucide-react';
import { plural } from '../../format/numbers.ts';
import { buttonClass } from '../../parts/button.tsx';
import { MAX_COMPARED } from '../../viewer/max-compared.ts';
import styles from './create.module.css';
import type { Run } from './runs.ts';

/** Above the runs of one press: how many there are, and the way to compare them. */
export function RunGroup({ runs }: { runs: readonly Run[] }) {
  const taskIds = runs.flatMap(({ taskId }) => taskId ?? []);
  return (
    <p className={styles.group}>
      <span>{plural(runs.length, 'task')} of one form</span>
      {taskIds.length > 1 && (
        <Link to="/compare" search={{ tasks: chosen(runs).join(',') }} className={buttonClass()}>
          <SquareSplitHorizontal aria-hidden /> Compare {Math.min(MAX_COMPARED, taskIds.length)}
        </Link>
      )}
    </p>
  );
}

/** One task of each model first, then the repeats. */
function chosen(runs: readonly Run[]): string[] {
  const firsts = runs.filter(
    ({ request }, at) => runs.findIndex((each) => each.request.model === request.model) === at,
  );
  const ordered = [...firsts, ...runs.filter((run) => !firsts.includes(run))];
  return ordered.flatMap(({ taskId }) => taskId ?? []).slice(0, MAX_COMPARED);
}
