import { useSyncExternalStore } from 'react';
import { nowS, onTick } from '../../format/clock.ts';
import { duration } from '../../format/time.ts';

/** The time until the next attempt. It counts down even without a connection. */
export function NextAttempt({ at }: { at: number }) {
  const now = useSyncExternalStore(onTick, nowS);
  return <>next {at > now ? `in ${duration(at - now)}` : 'now'}</>;
}
