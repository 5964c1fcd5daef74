import { Link } from '@tanstack/react-router';
import { Download, ImagePlus, SquareSplitHorizontal } from 'lucide-react';
import { downloadUrl } from '../../live/link-keeper.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { MAX_COMPARED } from '../../viewer/max-compared.ts';
import styles from './gallery.module.css';
import type { Shot } from '../../viewer/shot.ts';

/** Browsers drop downloads that a page starts in the same moment. */
const DOWNLOAD_PAUSE_MS = 250;

interface Props {
  shots: readonly Shot[];
  onUse: ((fileIds: string) => void) | null;
  onClear(): void;
}

/** What can be done with the chosen tiles. */
export function SelectionBar({ shots, onUse, onClear }: Props) {
  const ids = shots.map(({ output }) => output.id);
  const pictures = shots.filter(({ output }) => output.type === 'IMAGE');
  return (
    <div className={styles.chosen} role="toolbar" aria-label="Selection">
      <span>{shots.length} selected</span>
      {shots.length > 1 && shots.length <= MAX_COMPARED && (
        <Link to="/compare" search={{ outputs: ids.join(',') }} className={buttonClass({ variant: 'primary' })}>
          <SquareSplitHorizontal aria-hidden /> Compare
        </Link>
      )}
      {onUse && pictures.length > 0 && (
        <Button onClick={() => onUse(pictures.map(({ output }) => output.id).join(','))}>
          <ImagePlus aria-hidden /> Use as reference
        </Button>
      )}
      <Button onClick={() => void download(shots)}>
        <Download aria-hidden /> Download
      </Button>
      <Button variant="quiet" onClick={onClear}>
        Clear <kbd>Esc</kbd>
      </Button>
    </div>
  );
}

async function download(shots: readonly Shot[]): Promise<void> {
  for (const { output } of shots) {
    const url = downloadUrl(output);
    if (url === null) continue;
    const link = document.createElement('a');
    link.href = url;
    link.download = '';
    link.click();
    await new Promise((resolve) => setTimeout(resolve, DOWNLOAD_PAUSE_MS));
  }
}
