import { Button } from './button.tsx';
import { Countdown } from './countdown.tsx';
import { cx } from './class-names.ts';
import { CopyButton } from './copy-button.tsx';
import styles from './panel.module.css';

interface Fault {
  message: string;
  code: string;
  requestId: string | null;
  retryAfterS: number | null;
}

/** The error of a failed read, in place of the data. */
export function ErrorPanel({ error, onRetry }: { error: Fault; onRetry?: () => void }) {
  return (
    <div className={cx(styles.panel, styles.error)} role="alert">
      <h2>{error.message}</h2>
      <div className={styles.facts}>
        <span>{error.code}</span>
        {error.requestId && (
          <span>
            {error.requestId} <CopyButton text={error.requestId} label="Copy request id" small />
          </span>
        )}
      </div>
      {onRetry && (
        <div className={styles.actions}>
          <Button onClick={onRetry}>Retry</Button>
          {error.retryAfterS !== null && (
            <Countdown seconds={error.retryAfterS} onEnd={onRetry} before="Trying again in " />
          )}
        </div>
      )}
    </div>
  );
}
