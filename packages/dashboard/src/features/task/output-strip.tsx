import { fileUrl, stillUrl } from '../../live/link-keeper.ts';
import type { Output } from '../../live/task-store.ts';
import { TilePicture } from '../../parts/tile-picture.tsx';
import styles from './task.module.css';

interface Props {
  outputs: readonly Output[];
  /** The number of the shown output, from 1. */
  at: number;
  onOutput(output: number): void;
}

/** All outputs as small pictures. */
export function OutputStrip({ outputs, at, onOutput }: Props) {
  return (
    <div className={styles.strip}>
      {outputs.map((each) => (
        <button
          key={each.id}
          type="button"
          className={styles.thumb}
          aria-current={each.index === at - 1}
          aria-label={`Output ${each.index + 1}`}
          style={{ aspectRatio: `${each.width} / ${each.height}` }}
          onClick={() => onOutput(each.index + 1)}
        >
          <TilePicture
            src={each.type === 'VIDEO' ? fileUrl(each) : stillUrl(each)}
            alt=""
            isFilm={each.type === 'VIDEO'}
            seconds={each.duration}
            index={each.index + 1}
          />
        </button>
      ))}
    </div>
  );
}
