import { mutate } from '../../api/client.ts';
import { asCallError } from '../../api/errors.ts';
import { Button } from '../../parts/button.tsx';
import styles from '../../parts/stat.module.css';
import { report } from '../../parts/toasts.ts';
import { useAction } from '../../parts/use-action.ts';
import type { QueueAct } from './act-dialog.tsx';
import { DrainProcess, ResumeProcess } from './queue.documents.ts';

interface Props {
  process: { id: string; host: string; state: string; busy: number; slots: number };
  onAct(act: QueueAct): void;
}

/** Of a process that claims tasks: to claim no more, to claim again, and to give away what it runs. */
export function ProcessActs({ process: { id, host, state, busy, slots }, onAct }: Props) {
  const { busy: isActing, act } = useAction();
  if (slots === 0) return <>–</>;
  const isDraining = state === 'DRAINING' || state === 'DRAINED';
  const set = () =>
    act(async () => {
      try {
        await (isDraining ? mutate(ResumeProcess, { id }) : mutate(DrainProcess, { id }));
        report(isDraining ? `${host} claims tasks again.` : `${host} claims no more tasks.`);
      } catch (error) {
        report(asCallError(error).message, true);
      }
    });
  return (
    <div className={styles.row}>
      {state !== 'LOST' && (
        <Button disabled={isActing} onClick={() => void set()} aria-label={`${isDraining ? 'Resume' : 'Drain'} ${id}`}>
          {isDraining ? 'Resume' : 'Drain'}
        </Button>
      )}
      {busy > 0 && (
        <Button
          aria-label={`Release the tasks of ${id}`}
          onClick={() => onAct({ act: 'release', of: `of ${id}`, filter: { workerId: id } })}
        >
          Release…
        </Button>
      )}
    </div>
  );
}
