import { useSyncExternalStore } from 'react';
import { ago, moment } from '../format/time.ts';
import { nowS, onTick } from '../format/clock.ts';

/** An age, with the exact time on hover. */
export function TimeAgo({ at }: { at: number }) {
  const now = useSyncExternalStore(onTick, nowS);
  return (
    <time dateTime={new Date(at * 1_000).toISOString()} title={moment(at)}>
      {ago(at, now)}
    </time>
  );
}
