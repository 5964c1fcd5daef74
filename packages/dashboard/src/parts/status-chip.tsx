import { Ban, CircleCheck, CircleDashed, CircleX, LoaderCircle } from 'lucide-react';
import { cx } from './class-names.ts';
import styles from './status.module.css';

export interface Status {
  status: 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  progress: number;
  errorCode?: string | null | undefined;
}

const LOOKS = {
  queued: { word: 'Queued', Icon: CircleDashed },
  running: { word: 'Running', Icon: LoaderCircle },
  succeeded: { word: 'Succeeded', Icon: CircleCheck },
  failed: { word: 'Failed', Icon: CircleX },
  cancelled: { word: 'Cancelled', Icon: Ban },
};

type Look = keyof typeof LOOKS;

const lookOf = ({ status, errorCode }: Status): Look =>
  errorCode === 'TASK_CANCELLED' ? 'cancelled' : (status.toLowerCase() as Look);

/** `Running 47 %` */
export const statusWord = (status: Status): string =>
  LOOKS[lookOf(status)].word + (status.status === 'RUNNING' ? ` ${status.progress} %` : '');

/** A status as icon, word and colour. */
export function StatusChip(props: Status) {
  const look = lookOf(props);
  const { word, Icon } = LOOKS[look];
  return (
    <span className={cx(styles.chip, styles[look])}>
      <Icon aria-hidden className={look === 'running' ? styles.turning : undefined} />
      {word}
      {look === 'running' && ` ${props.progress} %`}
    </span>
  );
}
