import { Minus, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ControlIds } from './field.tsx';
import styles from './control.module.css';
import { IconButton } from './icon-button.tsx';
import { TextInput } from './text-input.tsx';

/** Up to this many values there is a slider beside the number. */
const MAX_SLIDER_VALUES = 20;

interface Props {
  label: string;
  ids: ControlIds;
  value: number;
  min: number;
  max: number;
  /** The difference between two values; 1 by default. */
  step?: number;
  unit?: string | undefined;
  onChange(value: number): void;
}

export function Stepper({ label, ids, value, min, max, step = 1, unit, onChange }: Props) {
  /** The text that is being typed, because an unfinished number may not be an allowed value. */
  const [typed, setTyped] = useState<string | null>(null);
  const set = (next: number) => onChange(Math.min(max, Math.max(min, Math.round(next / step) * step || min)));
  return (
    <div className={styles.stepper}>
      <IconButton
        variant={undefined}
        label={`Less: ${label}`}
        disabled={value <= min}
        onClick={() => set(value - step)}
      >
        <Minus />
      </IconButton>
      <TextInput
        {...ids}
        type="number"
        min={min}
        max={max}
        step={step}
        value={typed ?? value}
        onChange={({ target }) => {
          setTyped(target.value);
          if (target.validity.valid && target.value !== '') onChange(target.valueAsNumber);
        }}
        onBlur={() => {
          if (typed !== null) set(Number(typed));
          setTyped(null);
        }}
      />
      <IconButton
        variant={undefined}
        label={`More: ${label}`}
        disabled={value >= max}
        onClick={() => set(value + step)}
      >
        <Plus />
      </IconButton>
      {unit && <span className={styles.unit}>{unit}</span>}
      {max - min < MAX_SLIDER_VALUES && (
        <input
          type="range"
          aria-label={label}
          min={min}
          max={max}
          value={value}
          onChange={(event) => set(event.target.valueAsNumber)}
        />
      )}
    </div>
  );
}
