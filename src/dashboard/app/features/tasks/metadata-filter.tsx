import { Tag, X } from 'lucide-react';
import { useState } from 'react';
import { MAX_PAIRS, type MetadataField, metadataOf, type TaskSearch } from '../../live/task-filter.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Field } from '../../parts/field.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import styles from './tasks.module.css';

interface Props {
  search: TaskSearch;
  onSearch(search: TaskSearch): void;
}

/** Pairs that a task must carry: each is a chip that takes itself away. */
export function MetadataFilter({ search, onSearch }: Props) {
  const [isAdding, setAdding] = useState(false);
  const pairs = Object.entries(metadataOf(search));
  const without = (name: string) => {
    const next = { ...search };
    delete next[fieldOf(name)];
    onSearch(next);
  };
  return (
    <>
      {pairs.map(([name, value]) => (
        <Button key={name} className={styles.pair} title="Take this pair away" onClick={() => without(name)}>
          <bdi>
            {name} = {value}
          </bdi>{' '}
          <X aria-hidden />
        </Button>
      ))}
      {pairs.length < MAX_PAIRS && (
        <Button onClick={() => setAdding(true)}>
          <Tag aria-hidden /> Metadata
        </Button>
      )}
      {isAdding && (
        <PairDialog
          onClose={() => setAdding(false)}
          onAdd={(name, value) => {
            setAdding(false);
            onSearch({ ...search, [fieldOf(name)]: value });
          }}
        />
      )}
    </>
  );
}

const fieldOf = (name: string): MetadataField => `meta.${name}`;

function PairDialog({ onAdd, onClose }: { onAdd(name: string, value: string): void; onClose(): void }) {
  const [name, setName] = useState('');
  const [value, setValue] = useState('');
  return (
    <Dialog
      open
      title="Tasks with this metadata"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" disabled={name === '' || value === ''} onClick={() => onAdd(name, value)}>
            Show them
          </Button>
        </>
      }
    >
      <Field label="Name" hint="such as order">
        {(ids) => (
          <TextInput {...ids} autoFocus maxLength={64} value={name} onChange={(event) => setName(event.target.value)} />
        )}
      </Field>
      <Field label="Value" hint="the whole value">
        {(ids) => (
          <TextInput
            {...ids}
            maxLength={512}
            value={value}
            onChange={(event) => setValue(event.target.value)}
            onKeyDown={(event) => event.key === 'Enter' && name !== '' && value !== '' && onAdd(name, value)}
          />
        )}
      </Field>
    </Dialog>
  );
}
