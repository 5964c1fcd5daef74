import { SkipBack, SkipForward } from 'lucide-react';
import { useRef } from 'react';
import { useShortcuts } from '../keys/shortcuts.ts';
import { IconButton } from '../parts/icon-button.tsx';
import { Select } from '../parts/select.tsx';
import styles from './viewer.module.css';

const SPEEDS = [0.25, 0.5, 1, 1.5, 2];
/** Seconds of a frame, at the 24 frames a second that models make. */
const FRAME_S = 1 / 24;

/** A film with the controls of the browser, its speed, and steps of a frame. */
export function FilmPlayer({ src, label }: { src: string; label: string }) {
  const film = useRef<HTMLVideoElement>(null);
  const step = (by: number) => {
    if (!film.current) return;
    film.current.pause();
    film.current.currentTime += by * FRAME_S;
  };
  useShortcuts({ ',': () => step(-1), '.': () => step(1) });
  return (
    <div>
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- generated films have no captions */}
      <video ref={film} className={styles.film} src={src} aria-label={label} controls loop playsInline preload="auto" />
      <div className={styles.speeds}>
        <IconButton label="Back one frame" shortcut="," onClick={() => step(-1)}>
          <SkipBack />
        </IconButton>
        <IconButton label="Forward one frame" shortcut="." onClick={() => step(1)}>
          <SkipForward />
        </IconButton>
        <Select
          aria-label="Speed"
          defaultValue="1"
          onChange={(event) => film.current && (film.current.playbackRate = Number(event.target.value))}
        >
          {SPEEDS.map((speed) => (
            <option key={speed} value={speed}>
              {speed}×
            </option>
          ))}
        </Select>
      </div>
    </div>
  );
}
