import { FolderHeart, Star } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { part } from '../api/late-part.ts';
import { moment } from '../format/time.ts';
import { Button } from '../parts/button.tsx';
import styles from './keep-panel.module.css';
import { toggleStars } from './keep.ts';
import { type Listed, useOutput } from './use-output.ts';

const CollectionDialog = lazy(
  part(() => import('./collection-dialog.tsx').then(({ CollectionDialog: it }) => ({ default: it }))),
);

interface Props {
  listed: Listed;
  /** Whether the key may keep. */
  mayKeep: boolean;
}

/** Until when a file is there, and what stops its end. */
export function KeepPanel({ listed, mayKeep }: Props) {
  const { output, ends, filesUntil } = useOutput(listed);
  const [collects, setCollects] = useState(false);
  if (output.url === null) return null;
  return (
    <div className={styles.keep} role="group" aria-label="Keep">
      <p data-ends={ends !== null}>
        {output.kept ? (
          <>
            Kept
            {output.collection !== null && (
              <>
                {' '}
                in <bdi>{output.collection}</bdi>
              </>
            )}
            : time does not delete it.
          </>
        ) : (
          filesUntil > 0 && `${ends ? `${ends}, on` : 'Deleted on'} ${moment(filesUntil)}.`
        )}
      </p>
      {mayKeep && (
        <span>
          <Button aria-pressed={output.kept} onClick={() => void toggleStars([listed])}>
            <Star aria-hidden /> Keep <kbd>s</kbd>
          </Button>
          <Button onClick={() => setCollects(true)}>
            <FolderHeart aria-hidden /> Collection <kbd>b</kbd>
          </Button>
        </span>
      )}
      {collects && (
        <Suspense>
          <CollectionDialog files={[listed]} onClose={() => setCollects(false)} />
        </Suspense>
      )}
    </div>
  );
}
