import { Link } from '@tanstack/react-router';
import { Download, FolderHeart, ImagePlus, Share2, SquareSplitHorizontal, Star, Trash2 } from 'lucide-react';
import { type ComponentProps, lazy, type ReactNode, Suspense, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { isUsablePicture } from '../../live/task-store.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { toggleStars } from '../../viewer/keep.ts';
import { MAX_COMPARED } from '../../viewer/max-compared.ts';
import type { Shot } from '../../viewer/shot.ts';
import { downloadFiles } from './download-files.ts';
import styles from './gallery.module.css';

const CollectionDialog = lazy(
  part(() => import('../../viewer/collection-dialog.tsx').then(({ CollectionDialog: it }) => ({ default: it }))),
);
const ShareDialog = lazy(
  part(() => import('../../viewer/share-dialog.tsx').then(({ ShareDialog: it }) => ({ default: it }))),
);
const DeleteFiles = lazy(part(() => import('./delete-files.tsx').then(({ DeleteFiles: it }) => ({ default: it }))));

/** One share contains at most this many files; the service has the same limit. */
const MAX_SHARED = 8;

interface Props {
  shots: readonly Shot[];
  onUse: ((fileIds: string) => void) | null;
  /** Whether the key may keep, share and delete. */
  mayKeep: boolean;
  onDeleted(fileIds: ReadonlySet<string>): void;
  onClear(): void;
}

/** The actions on the selected tiles. */
export function SelectionBar({ shots, onUse, mayKeep, onDeleted, onClear }: Props) {
  const [asks, setAsks] = useState<'collection' | 'share' | 'delete' | null>(null);
  const ids = shots.map(({ output }) => output.id);
  const present = shots.filter(({ output }) => output.url !== null);
  const pictures = shots.filter(({ output }) => isUsablePicture(output));
  return (
    <div className={styles.chosen} role="toolbar" aria-label="Selection">
      <span>{shots.length} selected</span>
      {shots.length > 1 && shots.length <= MAX_COMPARED && (
        <Link to="/compare" search={{ outputs: ids.join(',') }} className={buttonClass({ variant: 'primary' })}>
          <SquareSplitHorizontal aria-hidden /> Compare
        </Link>
      )}
      {mayKeep && (
        <Act name="Keep" onClick={() => void toggleStars(shots)}>
          <Star aria-hidden />
        </Act>
      )}
      {mayKeep && (
        <Act name="Collection" onClick={() => setAsks('collection')}>
          <FolderHeart aria-hidden />
        </Act>
      )}
      {mayKeep && shots.length <= MAX_SHARED && (
        <Act name="Share" onClick={() => setAsks('share')}>
          <Share2 aria-hidden />
        </Act>
      )}
      {onUse && pictures.length > 0 && (
        <Act name="Use as reference" onClick={() => onUse(pictures.map(({ output }) => output.id).join(','))}>
          <ImagePlus aria-hidden />
        </Act>
      )}
      {present.length > 0 && (
        <Act name="Download" onClick={() => void downloadFiles(present)}>
          <Download aria-hidden />
        </Act>
      )}
      {mayKeep && (
        <Act name="Delete" variant="danger" onClick={() => setAsks('delete')}>
          <Trash2 aria-hidden />
        </Act>
      )}
      <Button variant="quiet" onClick={onClear}>
        Clear <kbd>Esc</kbd>
      </Button>
      <Suspense>
        {asks === 'collection' && <CollectionDialog files={shots} onClose={() => setAsks(null)} />}
        {asks === 'share' && <ShareDialog files={shots} onClose={() => setAsks(null)} />}
        {asks === 'delete' && (
          <DeleteFiles
            shots={shots}
            onDone={onDeleted}
            onClose={() => {
              setAsks(null);
              onClear();
            }}
            onKeep={() => setAsks(null)}
          />
        )}
      </Suspense>
    </div>
  );
}

interface ActProps extends Omit<ComponentProps<typeof Button>, 'children'> {
  name: string;
  children: ReactNode;
}

/** A button of the bar. On a phone only its icon is visible. */
function Act({ name, children, ...rest }: ActProps) {
  return (
    <Button aria-label={name} title={name} {...rest}>
      {children} <span className={styles.word}>{name}</span>
    </Button>
  );
}
