import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react';
import { cx } from '../parts/class-names.ts';
import { Compared, CompareBar, type CompareMode } from './compared.tsx';
import { FilmPlayer } from './film-player.tsx';
import { Picture, type Shown } from './picture.tsx';
import { usePlacement } from './use-placement.ts';
import styles from './viewer.module.css';
import { ZoomBar } from './zoom-bar.tsx';

interface Props extends Omit<Shown, 'src'> {
  src: string | null;
  isFilm: boolean;
  /** The text if there is no file. */
  gone?: string;
  /** The other picture of a comparison. */
  other?: Shown | null;
  onCompareEnd?: () => void;
  /** Whether the frame fills the free space. If not, it has the aspect ratio of the picture. */
  fills?: boolean;
  /** Further buttons of the bar. */
  children?: ReactNode;
}

const GONE = 'The file is deleted.';

/** A picture to zoom, pan and compare, or a film to play. */
export function Viewer({
  fileId,
  src,
  alt,
  isFilm,
  width,
  height,
  gone = GONE,
  other,
  onCompareEnd,
  fills = false,
  children,
}: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [mode, setMode] = useState<CompareMode>('swipe');
  const zoom = usePlacement(frame);
  const picture = src === null ? null : { fileId, src, alt, width, height };
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).tagName === 'INPUT' || !zoom.arrow(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
  };
  if (isFilm && picture) {
    return (
      <div className={cx(styles.viewer, fills && styles.fills)}>
        <FilmPlayer
          key={fileId}
          fileId={fileId}
          src={picture.src}
          label={alt}
          stillsOf={fills ? width / height : undefined}
          plays={fills}
        >
          {children}
        </FilmPlayer>
      </div>
    );
  }
  return (
    <div className={cx(styles.viewer, fills && styles.fills)}>
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- a frame to drag; the bar below has buttons */}
      <div
        ref={frame}
        className={styles.frame}
        data-zoomed={zoom.placement.scale > 1}
        // The frame has the shape of the picture from the start. A frame that would be too high is lower, with empty
        // sides.
        style={fills ? undefined : { aspectRatio: `${width} / ${height}` }}
        {...zoom.handlers}
        onDoubleClick={zoom.onDoubleClick}
        onKeyDown={onKeyDown}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrows move a zoomed picture
        tabIndex={zoom.placement.scale > 1 ? 0 : undefined}
      >
        {picture === null ? (
          <p className={styles.note}>{gone}</p>
        ) : other ? (
          <Compared first={picture} second={other} mode={mode} zoom={zoom} />
        ) : (
          <Picture key={fileId} picture={picture} placement={zoom.placement} />
        )}
      </div>
      <div className={styles.bar} role="toolbar" aria-label="View">
        {picture && (
          <span className={cx(styles.group, styles.zoom)}>
            <ZoomBar zoom={zoom} />
          </span>
        )}
        {other && onCompareEnd && (
          <span className={styles.group}>
            <CompareBar mode={mode} onMode={setMode} onEnd={onCompareEnd} />
          </span>
        )}
        <span className={styles.space} />
        {children}
      </div>
    </div>
  );
}
