import { goneWords } from '../../format/gone.ts';
import { fileUrl, stillUrl } from '../../live/link-keeper.ts';
import { prefersReducedMotion } from '../../look/theme.ts';
import { TilePicture } from '../../parts/tile-picture.tsx';
import { TileStar } from '../../viewer/tile-star.tsx';
import { useOutput } from '../../viewer/use-output.ts';
import styles from './gallery.module.css';
import type { Shot } from '../../viewer/shot.ts';

interface Props {
  shot: Shot;
  width: number;
  tabIndex: number;
  selected: boolean;
  mayKeep: boolean;
  onSelect(range: boolean): void;
  onOpen(): void;
  onFocus(): void;
}

/** A film plays without sound while it has the pointer or the focus, unless motion is reduced. */
const play = (tile: HTMLElement, on: boolean): void => {
  const film = tile.querySelector('video');
  if (!film || prefersReducedMotion()) return;
  if (on) void film.play().catch(() => undefined);
  else film.pause();
};

export function GalleryTile({ shot, width, tabIndex, selected, mayKeep, onSelect, onOpen, onFocus }: Props) {
  const { prompt, of } = shot;
  const { output } = useOutput(shot);
  return (
    <div className={styles.cell} style={{ width }} data-tile={output.id} data-selected={selected}>
      <button
        type="button"
        className={styles.tile}
        tabIndex={tabIndex}
        data-file={output.id}
        onClick={onOpen}
        onFocus={(event) => {
          onFocus();
          play(event.currentTarget, true);
        }}
        onBlur={(event) => play(event.currentTarget, false)}
        onMouseEnter={(event) => play(event.currentTarget, true)}
        onMouseLeave={(event) => play(event.currentTarget, false)}
      >
        <TilePicture
          src={output.type === 'VIDEO' || output.url === null ? fileUrl(output) : stillUrl(output)}
          gone={goneWords(shot.filesUntil)}
          poster={output.preview && stillUrl(output)}
          alt={`${prompt.slice(0, 120)}${of > 1 ? `, output ${output.index + 1} of ${of}` : ''}`}
          isFilm={output.type === 'VIDEO'}
          seconds={output.duration}
          {...(of > 1 && { index: output.index + 1 })}
        />
        <span className={styles.caption} aria-hidden>
          <bdi>{prompt}</bdi>
        </span>
      </button>
      {mayKeep && (
        <TileStar listed={shot} name={`${prompt.slice(0, 40)}, output ${output.index + 1}`} tabIndex={tabIndex} />
      )}
      <input
        type="checkbox"
        className={styles.pick}
        tabIndex={tabIndex}
        aria-label={`Select ${prompt.slice(0, 40)}, output ${output.index + 1}`}
        checked={selected}
        onChange={() => undefined}
        onClick={(event) => onSelect(event.shiftKey)}
      />
    </div>
  );
}
