import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { bytes, money } from '../format/numbers.ts';
import { duration, moment } from '../format/time.ts';
import { stillUrl } from '../live/link-keeper.ts';
import { useQuery } from '../live/use-query.ts';
import { useTask } from '../live/use-task.ts';
import { CopyButton } from '../parts/copy-button.tsx';
import { TilePicture } from '../parts/tile-picture.tsx';
import styles from './full-viewer.module.css';
import { Given } from './given.tsx';
import { ownFileIn } from './own-file-in.ts';
import type { Shot } from './shot.ts';
import { ShotDetail } from './shot-detail.documents.ts';
import { useOwnPicture } from './use-own-picture.ts';

interface Props {
  shot: Shot;
  /** The panel about keeping the file. */
  keep: ReactNode;
  /** The actions on the picture. */
  children: ReactNode;
}

/**
 * The panel beside the picture: prompt, inputs, cost, the tasks it comes from, the tasks made from it, and its actions.
 */
export function ShotPanel({ shot, keep, children }: Props) {
  const { output, taskId, model, prompt, createdAt } = shot;
  const { data } = useQuery(ShotDetail, { taskId });
  const task = data?.task ?? null;
  const { prompt: whole, ...inputs } = (task?.input ?? {}) as Record<string, unknown>;
  const given = Object.entries(inputs).filter(([, value]) => ownFilesIn(value).length === 0);
  const references = Object.values(inputs).flatMap(ownFilesIn);
  const cost = task?.usage?.cost;
  const text = String(whole ?? prompt);
  const made = task?.children.edges.map(({ node }) => node.taskId) ?? [];
  // If the picture of the parent is a reference, the parent is already shown.
  const parent = references.some((id) => taskOf(id) === task?.parentTaskId) ? null : task?.parentTaskId;
  return (
    <aside className={styles.panel} aria-label="About the picture">
      <section aria-label="Prompt">
        <p className={styles.prompt}>
          <bdi>{text}</bdi> <CopyButton small text={text} label="Copy prompt" />
        </p>
      </section>
      {keep}
      <div className={styles.acts}>{children}</div>
      <dl className={styles.facts}>
        <dt>model</dt>
        <dd>{model}</dd>
        {given.map(([name, value]) => (
          <Fact key={name} name={name} value={value} />
        ))}
        <dt>file</dt>
        <dd>
          {output.width} × {output.height}
          {output.duration !== null && `, ${duration(output.duration)}`}, {bytes(output.sizeBytes)}
        </dd>
        <dt>made</dt>
        <dd>{moment(createdAt)}</dd>
        {cost && cost.basis !== 'UNPRICED' && (
          <>
            <dt>cost</dt>
            <dd>{money(cost.amountMicros, cost.currency)}</dd>
          </>
        )}
      </dl>
      {(references.length > 0 || parent) && (
        <section aria-label="Made from">
          <h2>Made from</h2>
          <div className={styles.relatives}>
            {references.map((id) => (
              <ReferenceTile key={id} fileId={id} />
            ))}
            {parent && <TaskTile taskId={parent} />}
          </div>
        </section>
      )}
      {made.length > 0 && (
        <section aria-label="Made of this">
          <h2>Made of this</h2>
          <div className={styles.relatives}>
            {made.map((id) => (
              <TaskTile key={id} taskId={id} />
            ))}
          </div>
        </section>
      )}
    </aside>
  );
}

function Fact({ name, value }: { name: string; value: unknown }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>
        <Given value={value} />
      </dd>
    </>
  );
}

/** The ids of the files of this service in a value; none if any part of the value is something else. */
function ownFilesIn(value: unknown): string[] {
  const all = [value].flat();
  const ids = all.map(ownFileIn).filter((id) => id !== null);
  return ids.length === all.length ? ids : [];
}

/** A parent or child task, shown by its first output. */
function TaskTile({ taskId }: { taskId: string }) {
  const row = useTask(taskId);
  const cover = row?.outputs[0];
  return (
    <Link to="/tasks/$taskId" params={{ taskId }} className={styles.relative} title={row?.prompt}>
      {cover ? (
        <TilePicture src={stillUrl(cover)} alt={row.prompt.slice(0, 80)} isFilm={false} />
      ) : (
        <span>{row ? row.status.toLowerCase() : 'task'}</span>
      )}
    </Link>
  );
}

/** A reference image. A reference that is an output links to its task. */
function ReferenceTile({ fileId }: { fileId: string }) {
  const picture = useOwnPicture(fileId);
  const from = taskOf(fileId);
  const face = picture ? <TilePicture src={picture.src} alt="Reference" isFilm={false} /> : <span>reference</span>;
  return from ? (
    <Link to="/tasks/$taskId" params={{ taskId: from }} className={styles.relative}>
      {face}
    </Link>
  ) : (
    <span className={styles.relative}>{face}</span>
  );
}

/** The task of an output; null for an upload. */
const taskOf = (fileId: string): string | null => {
  const [, suffix] = /^file_([0-9a-z]{26})_\d+$/.exec(fileId) ?? [];
  return suffix ? `task_${suffix}` : null;
};
