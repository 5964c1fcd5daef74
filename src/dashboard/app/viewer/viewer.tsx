import { Maximize, ZoomIn, ZoomOut } from 'lucide-react';
import { type PointerEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { useShortcuts } from '../keys/shortcuts.ts';
import { forgetLink } from '../live/link-keeper.ts';
import { Button } from '../parts/button.tsx';
import { IconButton } from '../parts/icon-button.tsx';
import { FilmPlayer } from './film-player.tsx';
import { bounded, FIT, type Placement, zoomAt } from './pan-zoom.ts';
import styles from './viewer.module.css';

const STEP = 1.25;

interface Props {
  fileId: string;
  src: string | null;
  alt: string;
  isFilm: boolean;
  width: number;
  height: number;
  /** Further tools of the bar. */
  children?: ReactNode;
}

/** A picture to zoom and pan, or a film to play. */
export function Viewer({ fileId, src, alt, isFilm, width, height, children }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [placement, setPlacement] = useState<Placement>(FIT);
  const [failed, setFailed] = useState(false);
  const pointers = useRef(new Map<number, { x: number; y: number }>());

  const size = () => frame.current?.getBoundingClientRect() ?? new DOMRect(0, 0, 1, 1);
  const zoom = (factor: number, at?: { x: number; y: number }) =>
    setPlacement((before) => bounded(zoomAt(before, factor, at), size()));
  const full = () => {
    const { width: w, height: h } = size();
    setPlacement({ ...FIT, scale: Math.max(width / w, height / h) / devicePixelRatio });
  };
  const pan = (x: number, y: number) =>
    setPlacement((before) => bounded({ ...before, x: before.x + x, y: before.y + y }, size()));

  useShortcuts(
    isFilm ? {} : { '+': () => zoom(STEP), '-': () => zoom(1 / STEP), '0': () => setPlacement(FIT), '1': full },
  );
  useEffect(() => {
    const element = frame.current;
    // Not by React, whose wheel listeners cannot keep the page from zooming.
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const box = size();
      zoom(Math.exp(-event.deltaY / 300), {
        x: event.clientX - box.x - box.width / 2,
        y: event.clientY - box.y - box.height / 2,
      });
    };
    element?.addEventListener('wheel', onWheel, { passive: false });
    return () => element?.removeEventListener('wheel', onWheel);
  }, []);

  function onPointerMove(event: PointerEvent) {
    const before = pointers.current.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const distance = (a: typeof now) => Math.hypot(a.x - other.x, a.y - other.y);
      zoom(distance(now) / Math.max(1, distance(before)));
    } else pan(now.x - before.x, now.y - before.y);
    pointers.current.set(event.pointerId, now);
  }
  const release = (event: PointerEvent) => pointers.current.delete(event.pointerId);

  if (src === null)
    return (
      <div className={styles.frame}>
        <p className={styles.note}>The file is deleted.</p>
      </div>
    );
  return (
    <div className={styles.viewer}>
      {isFilm ? (
        <FilmPlayer key={src} src={src} label={alt} />
      ) : (
        <div
          ref={frame}
          className={styles.frame}
          data-zoomed={placement.scale > 1}
          onPointerDown={(event) => {
            if (placement.scale > 1) event.currentTarget.setPointerCapture(event.pointerId);
            pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY });
          }}
          onPointerMove={onPointerMove}
          onPointerUp={release}
          onPointerCancel={release}
          onDoubleClick={() => (placement.scale === 1 ? full() : setPlacement(FIT))}
        >
          {failed ? (
            <p className={styles.note}>
              The picture did not load.{' '}
              <Button onClick={() => (forgetLink(fileId), setFailed(false))}>Reload picture</Button>
            </p>
          ) : (
            <img
              src={src}
              alt={alt}
              width={width}
              height={height}
              draggable={false}
              onError={() => setFailed(true)}
              style={{ transform: `translate(${placement.x}px, ${placement.y}px) scale(${placement.scale})` }}
            />
          )}
        </div>
      )}
      <div className={styles.bar} role="toolbar" aria-label="View">
        {!isFilm && (
          <>
            <IconButton label="Zoom out" shortcut="-" onClick={() => zoom(1 / STEP)}>
              <ZoomOut />
            </IconButton>
            <IconButton label="Zoom in" shortcut="+" onClick={() => zoom(STEP)}>
              <ZoomIn />
            </IconButton>
            <IconButton label="Fit" shortcut="0" onClick={() => setPlacement(FIT)}>
              <Maximize />
            </IconButton>
            <Button variant="quiet" title="Full size (1)" onClick={full}>
              100 %
            </Button>
          </>
        )}
        <span className={styles.space} />
        {children}
      </div>
    </div>
  );
}
