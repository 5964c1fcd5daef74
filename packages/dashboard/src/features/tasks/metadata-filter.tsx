import { Tag } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { MAX_PAIRS, type MetadataField, metadataOf, type TaskSearch } from '../../live/task-filter.ts';
import { Button } from '../../parts/button.tsx';

const PairDialog = lazy(part(() => import('./pair-dialog.tsx').then(({ PairDialog: it }) => ({ default: it }))));

interface Props {
  search: TaskSearch;
  onSearch(search: TaskSearch): void;
}

/** Adds a pair of metadata to the filter. */
export function MetadataFilter({ search, onSearch }: Props) {
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      {Object.keys(metadataOf(search)).length < MAX_PAIRS && (
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
