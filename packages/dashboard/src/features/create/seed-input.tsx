import { Dices } from 'lucide-react';
import type { ControlIds } from '../../parts/field.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import styles from './schema-form.module.css';

interface Props {
  ids: ControlIds;
  max: number;
  value: unknown;
  disabled: boolean;
  onChange(seed: number | undefined): void;
}

/** A number field for the seed, which may be empty. The dice button chooses a random seed. */
export function SeedInput({ ids, max, value, disabled, onChange }: Props) {
  return (
    <div className={styles.seed}>
      <TextInput
        {...ids}
        type="number"
        min={0}
        max={max}
        placeholder="another one each time"
        value={value === undefined ? '' : String(value)}
        disabled={disabled}
        onChange={({ target }) => onChange(target.value === '' ? undefined : target.valueAsNumber)}
      />
      <IconButton
        variant={undefined}
        label="Throw the dice for a seed"
        disabled={disabled}
        onClick={() => onChange(Math.floor(Math.random() * (max + 1)))}
      >
        <Dices />
      </IconButton>
    </div>
  );
}
