import { Columns2, FlipHorizontal, Repeat, X } from 'lucide-react';
import { type CSSProperties, useEffect, useState } from 'react';
import { useShortcuts } from '../keys/shortcuts.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { Picture, type Shown } from './picture.tsx';
import type { Zoom } from './use-placement.ts';
import styles from './viewer.module.css';

export type CompareMode = 'swipe' | 'side' | 'blink';

interface Props {
  first: Shown;
  second: Shown;
  mode: CompareMode;
  zoom: Zoom;
}

/** Two pictures in one frame, zoomed together. */
export function Compared({ first, second, mode, zoom }: Props) {
  const [at, setAt] = useState(50);
  const blink = useBlink(mode === 'blink');
  if (mode === 'side') {
    return (
      <div className={styles.pair}>
        <div className={styles.half}>
          <Picture picture={first} placement={zoom.placement} />
        </div>
        <div className={styles.half}>
          <Picture picture={second} placement={zoom.placement} />
        </div>
      </div>
    );
  }
  if (mode === 'blink') {
    return (
      <div className={styles.stack}>
        <Picture picture={first} placement={zoom.placement} style={{ opacity: blink ? 0 : 1 }} />
        <Picture picture={second} placement={zoom.placement} style={{ opacity: blink ? 1 : 0 }} />
        <span className={styles.which} role="status">
          {blink ? 'The other' : 'This one: hold b for the other'}
        </span>
      </div>
    );
  }
  return (
    <div className={styles.stack} style={{ '--at': `${at}%` } as CSSProperties}>
      <Picture picture={first} placement={zoom.placement} />
      <div className={styles.over}>
        <Picture picture={second} placement={zoom.placement} />
      </div>
      <span className={styles.edge} aria-hidden />
      <input
        className={styles.slider}
        type="range"
        aria-label="Border between the pictures"
        min={0}
        max={100}
        value={at}
        onPointerDown={(event) => event.stopPropagation()}
        onChange={(event) => setAt(event.target.valueAsNumber)}
      />
    </div>
  );
}

/** Whether the key `b` is held down. */
function useBlink(on: boolean): boolean {
  const [held, setHeld] = useState(false);
  useShortcuts(on ? { b: () => setHeld(true) } : {});
  useEffect(() => {
    const release = (event: KeyboardEvent) => event.key === 'b' && setHeld(false);
    const lose = () => setHeld(false);
    addEventListener('keyup', release);
    addEventListener('blur', lose);
    return () => {
      removeEventListener('keyup', release);
      removeEventListener('blur', lose);
    };
  }, []);
  return on && held;
}

const MODES = [
  { mode: 'swipe', label: 'Swipe', Icon: FlipHorizontal },
  { mode: 'side', label: 'Side by side', Icon: Columns2 },
  { mode: 'blink', label: 'Blink: hold b', Icon: Repeat },
] as const;

interface BarProps {
  mode: CompareMode;
  onMode(mode: CompareMode): void;
  onEnd(): void;
}

/** The buttons for the ways to compare two pictures, and to end the comparison. */
export function CompareBar({ mode, onMode, onEnd }: BarProps) {
  return (
    <>
      {MODES.map(({ mode: each, label, Icon }) => (
        <IconButton key={each} label={label} aria-pressed={each === mode} onClick={() => onMode(each)}>
          <Icon />
        </IconButton>
      ))}
      <IconButton label="End the comparison" onClick={onEnd}>
        <X />
      </IconButton>
    </>
  );
}
