import { Repeat, SkipBack, SkipForward } from 'lucide-react';
import { type ReactNode, useRef, useState } from 'react';
import { useShortcuts } from '../keys/shortcuts.ts';
import { renewLink } from '../live/link-keeper.ts';
import { useWhenLive } from '../live/use-when-live.ts';
import { prefersReducedMotion } from '../look/theme.ts';
import { Button } from '../parts/button.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { Select } from '../parts/select.tsx';
import { FilmScrub } from './film-scrub.tsx';
import styles from './viewer.module.css';

const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 2];
/** The seconds of one frame, if the film has 24 frames a second. */
const FRAME_S = 1 / 24;
/** If a renewed link fails within this time, the link is not the reason. */
const RENEWED_MS = 5_000;

interface Props {
  fileId: string;
  /** The first link. The player itself stores later links, because a new `src` would start the film again. */
  src: string;
  label: string;
  /** The aspect ratio of stills along the film, as width / height. Without it no stills are shown. */
  stillsOf?: number | undefined;
  /** Whether the film plays as soon as it is shown. */
  plays?: boolean;
  /** Further buttons of the bar. */
  children?: ReactNode;
}

/**
 * A film with the controls of the browser, a choice of speed, a switch for repeating, and steps of one frame. An
 * expired link is renewed during play.
 */
export function FilmPlayer({ fileId, src, label, stillsOf, plays = false, children }: Props) {
  const film = useRef<HTMLVideoElement>(null);
  const [link, setLink] = useState(src);
  const [loops, setLoops] = useState(true);
  const [speed, setSpeed] = useState(1);
  const [failed, setFailed] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const resume = useRef<{ at: number; plays: boolean } | null>(null);
  const renewedAt = useRef(-RENEWED_MS);

  const step = (by: number) => {
    if (!film.current) return;
    film.current.pause();
    film.current.currentTime += by * FRAME_S;
  };
  useShortcuts({ ',': () => step(-1), '.': () => step(1) });
  useWhenLive(() => void renew(), failed);

  async function renew() {
    const { currentTime = 0, paused = true } = film.current ?? {};
    resume.current ??= { at: currentTime, plays: !paused };
    renewedAt.current = performance.now();
    const next = await renewLink(fileId);
    setFailed(next === null);
    if (next === null) return;
    // Setting the same link does not load the film again, so `load` is called.
    if (next === link) film.current?.load();
    else setLink(next);
  }
  function onError() {
    if (performance.now() - renewedAt.current < RENEWED_MS) setFailed(true);
    else void renew();
  }
  function onLoaded() {
    if (!film.current) return;
    setFailed(false);
    film.current.playbackRate = speed;
    setSeconds(film.current.duration);
    if (!resume.current) return;
    film.current.currentTime = resume.current.at;
    if (resume.current.plays) void film.current.play().catch(() => undefined);
    else if (resume.current.at > 0) film.current.pause(); // otherwise `autoPlay` would start the film again
    resume.current = null;
  }

  return (
    <div className={styles.filmBox}>
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- generated films have no captions */}
      <video
        ref={film}
        className={styles.film}
        src={link}
        aria-label={label}
        controls
        loop={loops}
        playsInline
        autoPlay={plays && !prefersReducedMotion()}
        preload="auto"
        onError={onError}
        onLoadedMetadata={onLoaded}
      />
      {failed && (
        <p className={styles.note} role="alert">
          The film did not load. <Button onClick={() => void renew()}>Load again</Button>
        </p>
      )}
      {stillsOf !== undefined && seconds > 0 && Number.isFinite(seconds) && (
        <FilmScrub
          src={link}
          seconds={seconds}
          ratio={stillsOf}
          onSeek={(second) => film.current && (film.current.currentTime = second)}
        />
      )}
      <div className={styles.bar} role="toolbar" aria-label="Film">
        <IconButton label="Back one frame" shortcut="," onClick={() => step(-1)}>
          <SkipBack />
        </IconButton>
        <IconButton label="Forward one frame" shortcut="." onClick={() => step(1)}>
          <SkipForward />
        </IconButton>
        <IconButton label="Loop" aria-pressed={loops} onClick={() => setLoops(!loops)}>
          <Repeat />
        </IconButton>
        <Select
          aria-label="Speed"
          value={speed}
          onChange={(event) => {
            const next = Number(event.target.value);
            setSpeed(next);
            if (film.current) film.current.playbackRate = next;
          }}
        >
          {SPEEDS.map((each) => (
            <option key={each} value={each}>
              {each}×
            </option>
          ))}
        </Select>
        <span className={styles.space} />
        {children}
      </div>
    </div>
  );
}
