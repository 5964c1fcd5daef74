import { useEffect, useRef } from 'react';
import { isAnswered, onConnection } from './connection.ts';
import { whileSeen } from './while-seen.ts';

/**
 * While `isOn`, calls `act` when the service answers again, by a socket or to reads, and when the page becomes visible
 * again. Callers then repeat a read that has failed.
 */
export function useWhenLive(act: () => void, isOn: boolean): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    if (!isOn) return undefined;
    const stops = [onConnection(() => isAnswered() && latest.current()), whileSeen(() => latest.current())];
    return () => {
      for (const stop of stops) stop();
    };
  }, [isOn]);
}
