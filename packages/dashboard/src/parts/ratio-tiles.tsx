import { useId } from 'react';
import styles from './ratio-tiles.module.css';

/** Pixels of the longer side of a tile. */
const LONGER = 26;

interface Props {
  label: string;
  value: string;
  options: readonly string[];
  onChange(value: string): void;
}

/** A choice of ratios, each drawn to scale. Any other value is a dashed square. */
export function RatioTiles({ label, value, options, onChange }: Props) {
  const name = useId();
  return (
    <div className={styles.tiles} role="radiogroup" aria-label={label}>
      {options.map((option) => (
        <label key={option} className={styles.tile}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
          <Shape ratio={option} />
          {option}
        </label>
      ))}
    </div>
  );
}

function Shape({ ratio }: { ratio: string }) {
  const [width = 0, height = 0] = ratio.split(':').map(Number);
  const isRatio = width > 0 && height > 0;
  const scale = isRatio ? LONGER / Math.max(width, height) : 0;
  const [w, h] = isRatio ? [width * scale, height * scale] : [20, 20];
  return (
    <svg className={styles.shape} width={LONGER} height={LONGER} aria-hidden>
      <rect
        x={(LONGER - w) / 2}
        y={(LONGER - h) / 2}
        width={w}
        height={h}
        rx="1.5"
        strokeDasharray={isRatio ? undefined : '3 3'}
      />
    </svg>
  );
}
