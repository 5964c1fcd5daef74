import { Download } from 'lucide-react';
import { bytes } from '../../format/numbers.ts';
import { fileUrl } from '../../live/link-keeper.ts';
import type { TaskRow } from '../../live/task-store.ts';
import { buttonClass } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Id } from '../../parts/id.tsx';
import { TaskJson } from './task-json.tsx';
import type { Detail } from './task.documents.ts';
import styles from './task.module.css';

const TABS = { outputs: 'Outputs', json: 'JSON' } as const;
export type TaskTab = keyof typeof TABS;
export const isTaskTab = (text: string | undefined): text is TaskTab => text !== undefined && text in TABS;

interface Props {
  row: TaskRow;
  detail: Detail;
  tab: TaskTab;
  onTab(tab: TaskTab): void;
}

export function TaskTabs({ row, tab, onTab }: Props) {
  return (
    <section aria-label="Details">
      <div className={styles.tabs} role="tablist">
        {Object.entries(TABS).map(([name, label]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === tab}
            aria-controls="tab-panel"
            onClick={() => onTab(name as TaskTab)}
          >
            {label}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`}>
        {tab === 'json' ? <TaskJson row={row} /> : <Files row={row} />}
      </div>
    </section>
  );
}

function Files({ row }: { row: TaskRow }) {
  if (row.outputs.length === 0)
    return <p className={styles.caption}>No files{row.error ? ': the task failed.' : ' yet.'}</p>;
  return (
    <div className={styles.files}>
      <table>
        <thead>
          <tr>
            <th>File</th>
            <th>Pixels</th>
            <th>Size</th>
            <th>Type</th>
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
              <td>
                {fileUrl(output) ? (
                  <>
                    <a
                      className={buttonClass({ variant: 'quiet', icon: true })}
                      href={fileUrl(output) ?? undefined}
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
