import { lazy, Suspense, useState } from 'react';
import { part } from '../api/late-part.ts';
import { useShortcuts } from '../keys/shortcuts.ts';
import type { Starred } from '../live/stars.ts';
import { toggleStars } from './keep.ts';
import { starredOf } from './shot.ts';

const CollectionDialog = lazy(
  part(() => import('./collection-dialog.tsx').then(({ CollectionDialog: it }) => ({ default: it }))),
);

interface Props {
  /**
   * The files on which the keys act. By default the tile with the focus, else the first tile of the strip with the
   * focus, else the first tile of the newest strip.
   */
  target?: () => readonly Starred[];
  /** Whether the key b opens the collections. */
  hasCollections?: boolean;
}

/** The keys for keeping: s for the star, b for the collection. */
export function KeepKeys({ target = inFocus, hasCollections = true }: Props) {
  const [asked, setAsked] = useState<readonly Starred[] | null>(null);
  useShortcuts({
    s: () => void toggleStars(target()),
    ...(hasCollections && {
      b: () => {
        const files = target();
        if (files.length > 0) setAsked(files);
      },
    }),
  });
  if (!asked) return null;
  return (
    <Suspense>
      <CollectionDialog files={asked} onClose={() => setAsked(null)} />
    </Suspense>
  );
}

function inFocus(): Starred[] {
  const { activeElement } = document;
  const strip = activeElement?.closest('[data-run]') ?? document.querySelector('[data-run]');
  const tile = activeElement?.closest('[data-tile]') ?? strip?.querySelector('[data-tile]');
  const file = tile instanceof HTMLElement && starredOf(tile.dataset['tile'] ?? '');
  return file ? [file] : [];
}
