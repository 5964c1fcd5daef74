import { X } from 'lucide-react';
import { useId } from 'react';
import type { ControlIds } from '../../parts/field.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { Stepper } from '../../parts/stepper.tsx';
import styles from './schema-form.module.css';
import { type ParameterSchema, pixelsIn, sizeBounds } from './schema-rules.ts';

interface Props {
  ids: ControlIds;
  schema: ParameterSchema;
  value: unknown;
  onChange(size: string | undefined): void;
}

/**
 * A size in exact pixels, with a stepper for each side. Without a value the model uses its other parameters or its
 * default.
 */
export function SizeInput({ ids, schema, value, onChange }: Props) {
  const heightId = useId();
  const { start, ...bounds } = sizeBounds(schema);
  const { width, height } = pixelsIn(value) ?? start;
  const set = (size: { width?: number; height?: number }) =>
    onChange(`${size.width ?? width}x${size.height ?? height}`);
  return (
    <div className={styles.size}>
      <Stepper
        label="Width"
        ids={ids}
        {...bounds}
        value={width}
        unit="wide"
        onChange={(next) => set({ width: next })}
      />
      <Stepper
        label="Height"
        ids={{ ...ids, id: heightId }}
        {...bounds}
        value={height}
        unit="high"
        onChange={(next) => set({ height: next })}
      />
      {value !== undefined && (
        <IconButton label="Leave the size out" onClick={() => onChange(undefined)}>
          <X />
        </IconButton>
      )}
    </div>
  );
}
