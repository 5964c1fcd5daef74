import { Pause as PauseIcon, Play } from 'lucide-react';
import { moment } from '../../format/time.ts';
import { plural } from '../../format/numbers.ts';
import { Button } from '../../parts/button.tsx';
import styles from '../../parts/stat.module.css';
import type { Pause } from './providers.documents.ts';

interface Props {
  /** The pauses of this model or provider that are in force. */
  pauses: readonly Pause[];
  /** Null: this key may only read. */
  acts: { pause(): void; resume(id: string): void } | null;
  name: string;
}

/** Whether a model or provider is paused, and why. A button pauses or resumes it. */
export function PauseCell({ pauses, acts, name }: Props) {
  if (pauses.length === 0) {
    return acts ? (
      <Button onClick={acts.pause} aria-label={`Pause ${name}`}>
        <PauseIcon aria-hidden /> Pause
      </Button>
    ) : (
      <>–</>
    );
  }
  return (
    <>
      {pauses.map(({ id, reason, tasks, until }) => (
        <div key={id} className={styles.row}>
          <span className={styles.warn}>
            Paused: <bdi>{reason}</bdi>
            {tasks > 0 && `, holds ${plural(tasks, 'task')}`}
            {until !== null && `, until ${moment(until)}`}
          </span>
          {acts && (
            <Button onClick={() => acts.resume(id)} aria-label={`Resume ${name}`}>
              <Play aria-hidden /> Resume
            </Button>
          )}
        </div>
      ))}
    </>
  );
}
