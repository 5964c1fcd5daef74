import { SquareSplitHorizontal } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { part } from '../api/late-part.ts';
import { MenuButton } from '../parts/menu-button.tsx';

const CompareById = lazy(part(() => import('./compare-by-id.tsx').then(({ CompareById: it }) => ({ default: it }))));

interface Props {
  candidates: readonly { id: string; label: string }[];
  onChoose(fileId: string): void;
}

/** A menu of what to compare a picture with: another output, a reference, or any file of this service by its id. */
export function CompareMenu({ candidates, onChoose }: Props) {
  const [asks, setAsks] = useState(false);
  return (
    <>
      <MenuButton
        icon
        label="Compare with"
        variant="quiet"
        trigger={<SquareSplitHorizontal />}
        items={[
          ...candidates.map(({ id: file, label }) => ({ label, onSelect: () => onChoose(file) })),
          { label: 'Another file by its id…', line: candidates.length > 0, onSelect: () => setAsks(true) },
        ]}
      />
      {asks && (
        <Suspense>
          <CompareById onChoose={onChoose} onClose={() => setAsks(false)} />
        </Suspense>
      )}
    </>
  );
}
