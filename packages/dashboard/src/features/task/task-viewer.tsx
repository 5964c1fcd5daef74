import { ChevronLeft, ChevronRight, Download, Expand, Link2 } from 'lucide-react';
import { useRef } from 'react';
import { goneWords } from '../../format/gone.ts';
import { bytes } from '../../format/numbers.ts';
import { duration, moment } from '../../format/time.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { downloadUrl, fileUrl } from '../../live/link-keeper.ts';
import type { TaskRow } from '../../live/task-store.ts';
import { buttonClass } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { IconButton } from '../../parts/icon-button.tsx';
import { CompareMenu } from '../../viewer/compare-menu.tsx';
import { useOwnPicture } from '../../viewer/use-own-picture.ts';
import { KeepKeys } from '../../viewer/keep-keys.tsx';
import { StarButton } from '../../viewer/star-button.tsx';
import { Viewer } from '../../viewer/viewer.tsx';
import { OutputStrip } from './output-strip.tsx';
import { Failure, Waiting } from './task-waiting.tsx';
import styles from './task.module.css';

interface Props {
  row: TaskRow;
  prompt: string;
  /** The aspect ratio of the request, as width / height. */
  ratio: number;
  output: number;
  /** The ids of files of this service that the task was made from. */
  references: readonly string[];
  /** The id of the file that is compared with the output; null: none. */
  compare: string | null;
  onCompare(fileId: string | null): void;
  onOutput(output: number): void;
  onFull(): void;
  mayKeep: boolean;
}

export function TaskViewer(props: Props) {
  const { row, prompt, ratio, output, references, compare, onCompare, onOutput, onFull, mayKeep } = props;
  const link = useRef<HTMLAnchorElement>(null);
  const count = row.outputs.length;
  const at = Math.min(Math.max(1, output), Math.max(1, count));
  const shown = row.outputs[at - 1];
  const isPicture = shown?.type === 'IMAGE';
  const other = useOwnPicture(isPicture && compare !== shown.id ? compare : null);
  useShortcuts({ d: () => link.current?.click(), ...(shown && { f: onFull }) });
  if (!shown)
    return (
      <div className={styles.stage}>{row.error ? <Failure row={row} /> : <Waiting row={row} ratio={ratio} />}</div>
    );
  const url = fileUrl(shown);
  const candidates = [
    ...row.outputs.filter(({ id }) => id !== shown.id).map(({ id, index }) => ({ id, label: `Output ${index + 1}` })),
    ...references.map((id, index) => ({ id, label: `Reference ${index + 1}` })),
  ];
  return (
    <section className={styles.viewer} aria-label="Outputs">
      <Viewer
        key={shown.id}
        fileId={shown.id}
        src={url}
        alt={`${prompt.slice(0, 120)}, output ${at} of ${count}`}
        isFilm={!isPicture}
        width={shown.width}
        height={shown.height}
        gone={`${goneWords(row.filesUntil)}.`}
        other={other}
        onCompareEnd={() => onCompare(null)}
      >
        {count > 1 && (
          <span className={styles.pager}>
            <IconButton label="Previous output" shortcut="[" onClick={() => onOutput(at === 1 ? count : at - 1)}>
              <ChevronLeft />
            </IconButton>
            <span className="mono">
              {at} / {count}
            </span>
            <IconButton label="Next output" shortcut="]" onClick={() => onOutput(at === count ? 1 : at + 1)}>
              <ChevronRight />
            </IconButton>
          </span>
        )}
        {isPicture && url && !other && <CompareMenu candidates={candidates} onChoose={onCompare} />}
        {mayKeep && <StarButton listed={{ ...row, output: shown }} />}
        {url && (
          <a
            ref={link}
            className={buttonClass({ variant: 'quiet', icon: true })}
            href={downloadUrl(shown) ?? undefined}
            download
            aria-label="Download"
            title="Download (d)"
          >
            <Download />
          </a>
        )}
        {url && (
          <IconButton label="Full screen" shortcut="f" onClick={onFull}>
            <Expand />
          </IconButton>
        )}
      </Viewer>
      {mayKeep && url && (
        // While two pictures are compared, the key b shows the other one and opens no collections.
        <KeepKeys target={() => [{ ...row, output: shown }]} hasCollections={!other} />
      )}
      <p className={styles.caption}>
        <span className="mono">
          {shown.width} × {shown.height}
          {shown.duration !== null && ` · ${duration(shown.duration)}`} ·{' '}
          {shown.contentType.replace(/^\w+\//, '').toUpperCase()} · {bytes(shown.sizeBytes)}
        </span>
        {url && (
          <span>
            <Link2 size={14} aria-hidden />{' '}
            <CopyButton
              small
              label={`Copy link: anyone who has it can read the file${shown.urlExpiresAt ? ` until ${moment(shown.urlExpiresAt)}` : ''}`}
              text={() => location.origin + (fileUrl(shown) ?? '')}
            />
          </span>
        )}
      </p>
      {count > 1 && <OutputStrip outputs={row.outputs} at={at} onOutput={onOutput} />}
    </section>
  );
}
