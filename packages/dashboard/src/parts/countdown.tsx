import { useEffect, useEffectEvent, useState } from 'react';
import { duration } from '../format/time.ts';

/** Counts down once. Another `key` starts it again. */
export function Countdown({ seconds, before = '', onEnd }: { seconds: number; before?: string; onEnd?: () => void }) {
  const [end] = useState(() => Date.now() + seconds * 1_000);
  const [left, setLeft] = useState(seconds);
  const ended = useEffectEvent(() => onEnd?.());
  useEffect(() => {
    const timer = setInterval(() => {
      const rest = Math.max(0, (end - Date.now()) / 1_000);
      setLeft(rest);
      if (rest > 0) return;
      clearInterval(timer);
      ended();
    }, 250);
    return () => clearInterval(timer);
  }, [end]);
  return (
    <span className="mono">
      {before}
      {duration(Math.ceil(left))}
    </span>
  );
}
