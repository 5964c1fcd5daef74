import { Link } from '@tanstack/react-router';
import { Download, ImagePlus } from 'lucide-react';
import { type CSSProperties, useState } from 'react';
import { fileUrl } from '../../live/link-keeper.ts';
import { isFinal, type TaskRow } from '../../live/task-store.ts';
import { buttonClass } from '../../parts/button.tsx';
import { cx } from '../../parts/class-names.ts';
import { TilePicture } from '../../parts/tile-picture.tsx';
import type { Run } from './runs.ts';
import styles from './run-card.module.css';
import { type ModelSchema, ratioOf } from './schema-rules.ts';

interface Props {
  run: Run;
  task: TaskRow | undefined;
  /** Of its model; undefined: the model is gone. */
  schema: ModelSchema | undefined;
}

/** The pictures of a run. Until they are there, their places have the final shape. */
export function RunOutputs({ run, task, schema }: Props) {
  const { prompt, n } = run.request;
  // Only a run that was seen unfinished develops: not those that a reload shows again.
  const [watched, setWatched] = useState(false);
  if (task && !isFinal(task) && !watched) setWatched(true);
  const count = typeof n === 'number' ? n : 1;
  const outputs = task?.outputs ?? [];
  const places = outputs.length > 0 ? outputs.length : count;
  return (
    <div className={styles.outputs}>
      {Array.from({ length: places }, (_, index) => {
        const output = outputs[index];
        const ratio = output ? output.width / output.height : ratioOf(run.request, schema);
        return (
          <div
            key={index}
            className={cx(styles.output, places === 1 && styles.single)}
            style={{ '--ratio': ratio } as CSSProperties}
          >
            {output && task ? (
              <>
                <Link
                  to="/tasks/$taskId"
                  params={{ taskId: task.taskId }}
                  search={{ output: String(index + 1) }}
                  className={styles.open}
                >
                  <TilePicture
                    src={fileUrl(output)}
                    alt={`${prompt.slice(0, 120)}, output ${index + 1} of ${places}`}
                    isFilm={output.type === 'VIDEO'}
                    seconds={output.duration}
                    develop={watched}
                    {...(places > 1 && { index: index + 1 })}
                  />
                </Link>
                <span className={styles.tools}>
                  {output.type === 'IMAGE' && (
                    <Link
                      to="/create"
                      search={{ ref: output.id }}
                      className={buttonClass({ variant: 'quiet', icon: true })}
                      aria-label="Use as reference"
                      title="Use as reference"
                    >
                      <ImagePlus />
                    </Link>
                  )}
                  <a
                    className={buttonClass({ variant: 'quiet', icon: true })}
                    href={fileUrl(output) ?? undefined}
                    download
                    aria-label="Download"
                    title="Download"
                  >
                    <Download />
                  </a>
                </span>
              </>
            ) : (
              <div className={styles.empty} />
            )}
          </div>
        );
      })}
    </div>
  );
}
