import { FolderHeart, Share2, Star } from 'lucide-react';
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

const ShareDialog = lazy(part(() => import('./share-dialog.tsx').then(({ ShareDialog: it }) => ({ default: it }))));

interface Props {
  listed: Listed;
  /** Whether the key may keep and share files. */
  mayKeep: boolean;
}

/** Until when a file is stored, with buttons to keep it and to share it. */
export function KeepPanel({ listed, mayKeep }: Props) {
  const { output, ends, filesUntil } = useOutput(listed);
  const [asks, setAsks] = useState<'collection' | 'share' | null>(null);
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
          filesUntil > 0 && `${ends ? `${ends}, on` : 'Will be deleted on'} ${moment(filesUntil)}.`
        )}
      </p>
      {mayKeep && (
        <span>
          <Button aria-pressed={output.kept} onClick={() => void toggleStars([listed])}>
            <Star aria-hidden /> Keep <kbd>s</kbd>
          </Button>
          <Button onClick={() => setAsks('collection')}>
            <FolderHeart aria-hidden /> Collection <kbd>b</kbd>
          </Button>
          <Button onClick={() => setAsks('share')}>
            <Share2 aria-hidden /> Share
          </Button>
        </span>
      )}
      <Suspense>
        {asks === 'collection' && <CollectionDialog files={[listed]} onClose={() => setAsks(null)} />}
        {asks === 'share' && <ShareDialog files={[listed]} onClose={() => setAsks(null)} />}
      </Suspense>
    </div>
  );
}
