import { Link } from '@tanstack/react-router';
import { Clapperboard, Download, ImagePlus, Shuffle } from 'lucide-react';
import { type CSSProperties, lazy, Suspense } from 'react';
import { part } from '../../api/late-part.ts';
import { failureWords } from '../../api/error-words.ts';
import { downloadUrl, fileUrl } from '../../live/link-keeper.ts';
import { isUsablePicture, type Output, type TaskNow } from '../../live/task-store.ts';
import { Button, buttonClass } from '../../parts/button.tsx';
import { cx } from '../../parts/class-names.ts';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { TilePicture } from '../../parts/tile-picture.tsx';
import type { Run } from './runs.ts';
import styles from './strip.module.css';

const TileStar = lazy(part(() => import('../../viewer/tile-star.tsx').then(({ TileStar: it }) => ({ default: it }))));

/** One tile: an output, or the position of a future one. A strip of tiles shows the runs of one press of Generate. */
export interface Place {
  run: Run;
  task: TaskNow;
  output: Output | undefined;
  /** The index of the output in the task, from 0. */
  index: number;
  /** How many outputs the run has or will have. */
  of: number;
  ratio: number;
}

export interface TileActs {
  /**
   * Makes another picture from the output of `place`; with `fillsOnly` it only fills the form. Null: the key may not
   * create tasks.
   */
  onVary: ((place: Place, fillsOnly: boolean) => void) | null;
  /**
   * Puts the output of `place` into the form to make a film of it. Null: no film model takes a picture, or the key may
   * not create tasks.
   */
  onAnimate: ((place: Place) => void) | null;
  onReference(fileId: string): void;
  mayKeep: boolean;
}

interface Props extends TileActs {
  place: Place;
  /** Whether the tile is the first of its strip. The first tile is as large as the free space. */
  isLarge: boolean;
  /** Whether to name the model, because the strip has several. */
  withModel: boolean;
  /** Whether the task was seen unfinished, so that its picture appears with an animation. */
  develops: boolean;
}

export function StripTile({ place, isLarge, withModel, develops, onVary, onAnimate, onReference, mayKeep }: Props) {
  const { run, task, output, index, of, ratio } = place;
  const present = output?.url ? output : null; // a deleted file has no link
  const isPicture = present !== null && isUsablePicture(present);
  const mark = withModel ? run.request.model : of > 1 ? String(index + 1) : undefined;
  return (
    <div
      className={cx(styles.tile, isLarge && styles.large)}
      style={{ '--ratio': ratio } as CSSProperties}
      data-tile={output?.id}
    >
      {output && task ? (
        <div className={styles.open}>
          <Link
            to="/create"
            search={(before) => ({ ...before, view: output.id })}
            resetScroll={false}
            className={styles.link}
          >
            <TilePicture
              src={fileUrl(output)}
              alt={`${run.request.prompt.slice(0, 120)}, output ${index + 1} of ${of}`}
              isFilm={output.type === 'VIDEO'}
              seconds={output.duration}
              develop={develops}
              {...(mark && { index: mark })}
            />
          </Link>
          <Suspense>{mayKeep && <TileStar listed={{ ...task, output }} name={`output ${index + 1}`} />}</Suspense>
        </div>
      ) : (
        <Blank place={place} />
      )}
      {present && (
        <span className={styles.tools}>
          {isPicture && onVary && (
            <Button
              variant="quiet"
              title="Runs at once; with Alt it only fills the form"
              aria-label="Vary"
              onClick={(event) => onVary(place, event.altKey)}
            >
              <Shuffle aria-hidden /> {isLarge && 'Vary'}
            </Button>
          )}
          {isPicture && onAnimate && (
            <Button variant="quiet" aria-label="Animate" title="Animate" onClick={() => onAnimate(place)}>
              <Clapperboard aria-hidden /> {isLarge && 'Animate'}
            </Button>
          )}
          {isPicture && (
            <Link
              to="/create"
              search={{ ref: present.id }}
              // A plain click puts the picture into the form of this screen. Only a click for another tab or window
              // follows the link.
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                onReference(present.id);
              }}
              className={buttonClass({ variant: 'quiet' })}
              aria-label="Use as reference"
              title="Use as reference"
            >
              <ImagePlus aria-hidden /> {isLarge && 'Reference'}
            </Link>
          )}
          <a
            className={buttonClass({ variant: 'quiet' })}
            href={downloadUrl(present) ?? undefined}
            download
            aria-label="Download"
            title="Download"
          >
            <Download aria-hidden />
          </a>
        </span>
      )}
    </div>
  );
}

/** The tile of an output that does not exist (yet): its progress, or why it failed. It has the final shape already. */
function Blank({ place: { run, task } }: { place: Place }) {
  if (run.fault || task?.status === 'FAILED') {
    const words = task?.error ? failureWords(task.error.code).title : 'Not sent';
    return <div className={cx(styles.blank, styles.broken)}>{words}</div>;
  }
  return (
    <div className={styles.blank}>
      {task && <ProgressBar percent={task.progress} label={`Progress of ${run.request.prompt.slice(0, 40)}`} />}
    </div>
  );
}
