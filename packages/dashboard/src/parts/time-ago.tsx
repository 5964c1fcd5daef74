import { useSyncExternalStore } from 'react';
import { ago, moment } from '../format/time.ts';
import { nowS, onTick } from '../format/clock.ts';

interface Props {
  at: number;
  /** The class and role of the element, if the element is itself a cell of a grid. */
  className?: string | undefined;
  role?: 'gridcell';
}

/** How long ago a time was, with the exact time as title. */
export function TimeAgo({ at, className, role }: Props) {
  const now = useSyncExternalStore(onTick, nowS);
  return (
    <time className={className} role={role} dateTime={new Date(at * 1_000).toISOString()} title={moment(at)}>
      {ago(at, now)}
    </time>
  );
}
