import { Button } from '../../parts/button.tsx';
import styles from '../../parts/stat.module.css';
import type { QueueAct } from './act-dialog.tsx';

interface Props {
  process: { id: string; state: string; busy: number; slots: number };
  onAct(act: QueueAct): void;
}

/** The actions on a process that claims tasks: stop claiming, claim again, and give its running tasks to others. */
export function ProcessActs({ process: { id, state, busy, slots }, onAct }: Props) {
  if (slots === 0) return <>–</>;
  const isDraining = state === 'DRAINING' || state === 'DRAINED';
  return (
    <div className={styles.row}>
      {state !== 'LOST' && (
        <Button
          onClick={() => onAct({ act: isDraining ? 'resume' : 'drain', name: id, id })}
          aria-label={`${isDraining ? 'Resume' : 'Drain'} ${id}`}
        >
          {isDraining ? 'Resume…' : 'Drain…'}
        </Button>
      )}
      {busy > 0 && (
        <Button
          aria-label={`Release the tasks of ${id}`}
          onClick={() => onAct({ act: 'release', name: id, filter: { workerId: id } })}
        >
          Release…
        </Button>
      )}
    </div>
  );
}
