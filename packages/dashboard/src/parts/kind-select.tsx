import { Select } from './select.tsx';

/** Narrows a list to images or films. */
export function KindSelect({ value, onChange }: { value: string; onChange(kind: string): void }) {
  return (
    <Select aria-label="Kind" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">Any kind</option>
      <option value="image">Images</option>
      <option value="video">Films</option>
    </Select>
  );
}
