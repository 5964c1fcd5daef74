import { useEffect, useRef } from 'react';
import { duration } from '../format/time.ts';
import styles from './viewer.module.css';

const STILLS = 10;
const HEIGHT = 44;

interface Props {
  src: string;
  /** The duration of the film in seconds. */
  seconds: number;
  /** Width / height. */
  ratio: number;
  onSeek(second: number): void;
}

/** Stills along the film. A press on a still jumps to its time. For keyboards the controls of the film do the same. */
export function FilmScrub({ src, seconds, ratio, onSeek }: Props) {
  const stills = useRef<HTMLDivElement>(null);
  useEffect(() => drawStills(src, [...(stills.current?.querySelectorAll('canvas') ?? [])]), [src]);
  return (
    <div ref={stills} className={styles.scrub} role="group" aria-label="Along the film">
      {Array.from({ length: STILLS }, (_, index) => {
        const at = middleOf(index, seconds);
        return (
          <button
            key={index}
            type="button"
            tabIndex={-1}
            aria-label={`At ${duration(Math.round(at * 10) / 10)}`}
            onClick={() => onSeek(at)}
          >
            <canvas width={Math.round(HEIGHT * ratio)} height={HEIGHT} />
          </button>
        );
      })}
    </div>
  );
}

const middleOf = (index: number, seconds: number): number => ((index + 0.5) / STILLS) * seconds;

/** Draws the stills one after the other from a film element of its own, so that the visible film does not jump. */
function drawStills(src: string, canvases: readonly HTMLCanvasElement[]): () => void {
  const film = document.createElement('video');
  let next = 0;
  const seek = () => {
    film.currentTime = middleOf(next, film.duration);
  };
  const draw = () => {
    const canvas = canvases[next];
    if (!canvas) return;
    canvas.getContext('2d')?.drawImage(film, 0, 0, canvas.width, canvas.height);
    next++;
    if (next < canvases.length) seek();
  };
  film.muted = true;
  film.preload = 'auto';
  film.addEventListener('loadeddata', seek, { once: true });
  film.addEventListener('seeked', draw);
  film.src = src;
  return () => {
    film.removeEventListener('seeked', draw);
    film.removeAttribute('src'); // closes the connection of the film
    film.load();
  };
}
