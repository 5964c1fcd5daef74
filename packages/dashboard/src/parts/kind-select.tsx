import { Select } from './select.tsx';

const WORDS: Record<string, string> = { image: 'Images', video: 'Films' };

/** The word for a kind; empty if the text is no kind. */
export const kindWord = (kind: string | undefined): string => WORDS[kind ?? ''] ?? '';

/** Narrows a list to images or films. */
export function KindSelect({ value, onChange }: { value: string; onChange(kind: string): void }) {
  return (
    <Select aria-label="Kind" value={value} onChange={(event) => onChange(event.target.value)}>
      <option value="">Any kind</option>
      {Object.entries(WORDS).map(([kind, word]) => (
        <option key={kind} value={kind}>
          {word}
        </option>
      ))}
    </Select>
  );
}
