import { useSyncExternalStore } from 'react';
import { clockTime } from '../../format/time.ts';
import { nowS, onTick } from '../../format/clock.ts';
import { connection, onConnection, reconnectNow, upToDateAt } from '../../live/connection.ts';
import { Button } from '../../parts/button.tsx';
import { cx } from '../../parts/class-names.ts';
import styles from './shell.module.css';

const WORDS = {
  connecting: 'Connecting',
  live: 'Live',
  polling: 'Polling',
  offline: 'Offline',
  paused: 'Paused',
  waiting: 'Reconnecting',
};

/** Whether the page gets live updates, and a button to connect at once. */
export function LiveBadge() {
  const now = useSyncExternalStore(onConnection, connection);
  const seconds = useSyncExternalStore(onTick, nowS);
  const left = now.state === 'waiting' ? Math.max(0, Math.ceil(now.retryAt / 1_000 - seconds)) : 0;
  const since = now.state === 'live' || now.state === 'connecting' ? '' : `, as of ${clockTime(upToDateAt() / 1_000)}`;
  return (
    <>
      <span className={styles.badge} title={`${WORDS[now.state]}${since}`}>
        <span
          className={cx(
            styles.dot,
            now.state === 'live' && styles.live,
            now.state === 'offline' && styles.off,
            ['waiting', 'polling'].includes(now.state) && styles.trouble,
          )}
        />
        <span className={styles.badgeText}>
          {WORDS[now.state]}
          {left > 0 && ` in ${left} s`}
        </span>
      </span>
      {now.state === 'waiting' && (
        <Button variant="quiet" onClick={reconnectNow}>
          Now
        </Button>
      )}
    </>
  );
}
