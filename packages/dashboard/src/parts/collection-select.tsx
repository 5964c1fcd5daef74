import { Select } from './select.tsx';

interface Props {
  /** Empty until they are read. */
  names: readonly string[];
  value: string;
  onChange(collection: string): void;
  onFocus(): void;
}

/** Narrows a list to a collection. The one that the address names is there before the others are read. */
export function CollectionSelect({ names, value, onChange, onFocus }: Props) {
  const shown = value === '' || names.includes(value) ? names : [value, ...names];
  return (
    <Select aria-label="Collection" value={value} onFocus={onFocus} onChange={(event) => onChange(event.target.value)}>
      <option value="">Any collection</option>
      {shown.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </Select>
  );
}
