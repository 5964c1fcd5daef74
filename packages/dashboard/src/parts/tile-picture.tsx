import { useState } from 'react';
import { duration } from '../format/time.ts';
import { cx } from './class-names.ts';
import styles from './tile-picture.module.css';

interface Props {
  src: string | null;
  /** The text in place of a deleted file. */
  gone?: string;
  /** The still of a film, shown until it plays. */
  poster?: string | null | undefined;
  alt: string;
  isFilm: boolean;
  /** The duration of a film in seconds. */
  seconds?: number | null;
  /** Whether the task was seen unfinished, so that its picture appears with an animation. */
  develop?: boolean;
  /** A number or word on the edge of the picture. */
  index?: number | string;
}

/** A picture in a tile, or a film, which shows its poster or first frame until something plays it. */
export function TilePicture({ src, gone = 'Deleted', poster, alt, isFilm, seconds, develop, index }: Props) {
  const [failed, setFailed] = useState(false);
  return (
    <span className={cx(styles.frame)} style={{ width: '100%', height: '100%' }}>
      {src === null || failed ? (
        <span className={styles.gone}>{src === null ? gone : 'Not loaded'}</span>
      ) : isFilm ? (
        <video
          className={cx(develop && styles.develop)}
          src={src}
          poster={poster ?? undefined}
          aria-label={alt}
          muted
          loop
          playsInline
          preload={poster ? 'none' : 'metadata'}
        />
      ) : (
        <img
          className={cx(develop && styles.develop)}
          src={src}
          alt={alt}
          loading="lazy"
          decoding="async"
          onError={() => setFailed(true)}
        />
      )}
      {(isFilm || index !== undefined) && (
        <span className={styles.mark}>
          {isFilm ? ['▶', seconds && duration(seconds)].filter(Boolean).join(' ') : index}
        </span>
      )}
    </span>
  );
}
