import { Star } from 'lucide-react';
import { toggleStars } from './keep.ts';
import styles from './tile-star.module.css';
import { type Listed, useOutput } from './use-output.ts';

interface Props {
  listed: Listed;
  /** What screen readers call the file, such as "output 2". */
  name: string;
  tabIndex?: number;
}

/**
 * The star of a tile, and a ring around the tile in the two days before its file is deleted. The parent element must be
 * positioned.
 */
export function TileStar({ listed, name, tabIndex }: Props) {
  const { output, ends } = useOutput(listed);
  if (output.url === null) return null;
  const title = output.kept ? `Kept${output.collection ? ` in “${output.collection}”` : ''}` : (ends ?? 'Keep');
  return (
    <>
      {ends && <span className={styles.ring} data-ends />}
      {ends && <span className={styles.words}>{ends}</span>}
      <button
        type="button"
        className={styles.star}
        aria-pressed={output.kept}
        aria-label={`Keep ${name}${ends ? `, ${ends.toLowerCase()}` : ''}`}
        title={`${title} (s)`}
        tabIndex={tabIndex}
        onClick={() => void toggleStars([listed])}
      >
        <Star aria-hidden />
      </button>
    </>
  );
}
