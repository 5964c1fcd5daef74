import { Select } from './select.tsx';

interface Props {
  /** Model ids; empty until they are read. */
  models: readonly string[];
  value: string;
  onChange(model: string): void;
}

/**
 * Narrows a list to a model. The model that the address names is an option even before the models are read, and after
 * it was removed.
 */
export function ModelSelect({ models, value, onChange }: Props) {
  const shown = value === '' || models.includes(value) ? models : [value, ...models];
  return (
    <Select aria-label="Model" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">Any model</option>
      {shown.map((id) => (
        <option key={id}>{id}</option>
      ))}
    </Select>
  );
}
