import { useEffect, useRef } from 'react';
import { connection, onConnection } from './connection.ts';

/** Calls `act` when live updates begin again while `isOn`: what the service did not answer is read then. */
export function useWhenLive(act: () => void, isOn: boolean): void {
  const latest = useRef(act);
  useEffect(() => {
    latest.current = act;
  });
  useEffect(() => {
    if (!isOn) return undefined;
    return onConnection(() => connection().state === 'live' && latest.current());
  }, [isOn]);
}
