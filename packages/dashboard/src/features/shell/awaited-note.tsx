import { useSyncExternalStore } from 'react';
import { askForPartNow, awaitedPart, onAwaitedPart } from '../../api/late-part.ts';
import { nowS, onTick } from '../../format/clock.ts';
import { duration } from '../../format/time.ts';
import { Button } from '../../parts/button.tsx';
import styles from './shell.module.css';

/**
 * Shown while the next screen cannot be loaded because the service does not answer. The present screen stays until the
 * service answers.
 */
export function AwaitedNote() {
  const awaited = useSyncExternalStore(onAwaitedPart, awaitedPart);
  const now = useSyncExternalStore(onTick, nowS);
  if (!awaited) return null;
  const left = Math.max(1, Math.ceil(awaited.retryAt / 1_000 - now));
  return (
    <div className={styles.awaited} role="alert">
      <span>Darkroom does not answer. What you asked for opens as soon as it does, again in {duration(left)}.</span>
      <Button onClick={askForPartNow}>Now</Button>
    </div>
  );
}
