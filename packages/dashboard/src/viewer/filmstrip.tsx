import { useEffect, useRef } from 'react';
import { stillUrl } from '../live/link-keeper.ts';
import { TilePicture } from '../parts/tile-picture.tsx';
import styles from './full-viewer.module.css';
import type { Shot } from './shot.ts';
import { useOutput } from './use-output.ts';

/** At most this many pictures are drawn on each side of the open one. */
const NEAR = 12;

interface Props {
  shots: readonly Shot[];
  at: number;
  onGo(shot: Shot): void;
}

/** The pictures before and after the open one, small. The open one stays in the middle. */
export function Filmstrip({ shots, at, onGo }: Props) {
  const strip = useRef<HTMLDivElement>(null);
  const first = Math.max(0, at - NEAR);
  const near = shots.slice(first, at + NEAR + 1);
  useEffect(() => {
    const { current } = strip;
    const tile = current?.querySelector<HTMLElement>('[aria-current=true]');
    if (current && tile) current.scrollLeft = tile.offsetLeft - (current.clientWidth - tile.clientWidth) / 2;
  }, [at, first]);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled region needs the keyboard
    <div ref={strip} className={styles.filmstrip} role="group" aria-label="Other pictures" tabIndex={0}>
      {near.map((shot, index) => (
        <button
          key={shot.output.id}
          type="button"
          tabIndex={-1} // Tab skips these buttons: arrow keys move between pictures
          aria-label={`Picture ${first + index + 1}`}
          aria-current={first + index === at}
          style={{ aspectRatio: shot.ratio }}
          onClick={() => onGo(shot)}
        >
          <Still shot={shot} />
        </button>
      ))}
    </div>
  );
}

function Still({ shot }: { shot: Shot }) {
  const { output } = useOutput(shot);
  return <TilePicture src={stillUrl(output)} alt="" isFilm={false} />;
}
