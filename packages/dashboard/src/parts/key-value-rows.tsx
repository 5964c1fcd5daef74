import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import { Button } from './button.tsx';
import { IconButton } from './icon-button.tsx';
import styles from './key-value-rows.module.css';
import { TextInput } from './text-input.tsx';

interface Props {
  value: Record<string, string>;
  max: number;
  onChange(value: Record<string, string>): void;
}

/** Edits a map of texts, with one row for each pair. Rows without a name are not part of the value. */
export function KeyValueRows({ value, max, onChange }: Props) {
  const [rows, setRows] = useState<[string, string][]>(() => Object.entries(value));
  const set = (next: [string, string][]) => {
    setRows(next);
    onChange(Object.fromEntries(next.filter(([name]) => name !== '')));
  };
  const edit = (at: number, column: 0 | 1, text: string) =>
    set(rows.map((row, index) => (index === at ? (column === 0 ? [text, row[1]] : [row[0], text]) : row)));
  return (
    <div className={styles.rows}>
      {rows.map(([name, text], index) => (
        <div key={index} className={styles.row}>
          <TextInput
            aria-label={`Name ${index + 1}`}
            placeholder="name"
            value={name}
            onChange={(event) => edit(index, 0, event.target.value)}
          />
          <TextInput
            aria-label={`Value ${index + 1}`}
            placeholder="value"
            value={text}
            onChange={(event) => edit(index, 1, event.target.value)}
          />
          <IconButton label={`Remove ${name || 'row'}`} onClick={() => set(rows.filter((_, at) => at !== index))}>
            <X />
          </IconButton>
        </div>
      ))}
      {rows.length < max && (
        <Button variant="quiet" onClick={() => set([...rows, ['', '']])}>
          <Plus aria-hidden /> Add a pair
        </Button>
      )}
    </div>
  );
}
