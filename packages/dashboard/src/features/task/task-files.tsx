import { Download } from 'lucide-react';
import { bytes } from '../../format/numbers.ts';
import { downloadUrl, fileUrl } from '../../live/link-keeper.ts';
import { isCancelled, type TaskRow } from '../../live/task-store.ts';
import { buttonClass } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Id } from '../../parts/id.tsx';
import styles from './task.module.css';

/** The files that the task made. */
export function TaskFiles({ row }: { row: TaskRow }) {
  if (row.outputs.length === 0) {
    const end = isCancelled(row) ? 'was cancelled' : 'failed';
    return <p className={styles.caption}>No files{row.error ? `: the task ${end}.` : ' yet.'}</p>;
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolled region needs the keyboard
    <div className={styles.files} role="region" aria-label="Files" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th>File</th>
            <th>Pixels</th>
            <th>Size</th>
            <th>Type</th>
            <th>SHA-256</th>
            <th>
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {row.outputs.map((output) => (
            <tr key={output.id}>
              <td>
                <Id id={output.id} />
              </td>
              <td className="mono">
                {output.width} × {output.height}
              </td>
              <td className="mono">{bytes(output.sizeBytes)}</td>
              <td className="mono">{output.contentType}</td>
              <td className="mono">
                <span className={styles.sha} title={output.sha256}>
                  {output.sha256}
                </span>
                <CopyButton small label="Copy the SHA-256" text={output.sha256} />
              </td>
              <td>
                {fileUrl(output) ? (
                  <>
                    <a
                      className={buttonClass({ variant: 'quiet', icon: true })}
                      href={downloadUrl(output) ?? undefined}
                      download
                      aria-label={`Download output ${output.index + 1}`}
                      title="Download"
                    >
                      <Download />
                    </a>
                    <CopyButton small label="Copy link" text={() => location.origin + (fileUrl(output) ?? '')} />
                  </>
                ) : (
                  'deleted'
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
