import { Tag, X } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { MAX_PAIRS, type MetadataField, metadataOf, type TaskSearch } from '../../live/task-filter.ts';
import { Button } from '../../parts/button.tsx';
import styles from './tasks.module.css';

const PairDialog = lazy(() => import('./pair-dialog.tsx').then(({ PairDialog: part }) => ({ default: part })));

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
        <Suspense>
          <PairDialog
            onClose={() => setAdding(false)}
            onAdd={(name, value) => {
              setAdding(false);
              onSearch({ ...search, [fieldOf(name)]: value });
            }}
          />
        </Suspense>
      )}
    </>
  );
}

const fieldOf = (name: string): MetadataField => `meta.${name}`;
