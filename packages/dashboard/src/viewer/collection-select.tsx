import { useCollections } from '../live/use-collections.ts';
import { Select } from '../parts/select.tsx';

interface Props {
  value: string;
  /** Whether the choice is visible. The names are read once it is visible. */
  isShown: boolean;
  onChange(collection: string): void;
}

/**
 * Narrows a list to a collection. The collection that the address names is an option even before the names are read.
 */
export function CollectionSelect({ value, isShown, onChange }: Props) {
  const { names, reload } = useCollections(isShown);
  const shown = value === '' || names.includes(value) ? names : [value, ...names];
  return (
    <Select aria-label="Collection" value={value} onFocus={reload} onChange={(event) => onChange(event.target.value)}>
      <option value="">Any collection</option>
      {shown.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </Select>
  );
}
