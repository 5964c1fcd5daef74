import { Star } from 'lucide-react';
import { IconButton } from '../parts/icon-button.tsx';
import styles from './star-button.module.css';
import { toggleStars } from './keep.ts';
import { type Listed, useOutput } from './use-output.ts';

/** The star in the bar of a viewer. */
export function StarButton({ listed }: { listed: Listed }) {
  const { output, ends } = useOutput(listed);
  if (output.url === null) return null;
  return (
    <span className={styles.star} data-ends={ends !== null} title={ends ?? undefined}>
      <IconButton label="Keep" shortcut="s" aria-pressed={output.kept} onClick={() => void toggleStars([listed])}>
        <Star />
      </IconButton>
    </span>
  );
}
