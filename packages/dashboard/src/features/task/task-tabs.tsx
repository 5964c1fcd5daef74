import type { KeyboardEvent } from 'react';
import type { TaskRow } from '../../live/task-store.ts';
import { RequestCode } from '../../parts/request-code.tsx';
import { TaskDeliveriesTab } from './task-deliveries.tsx';
import { TaskFiles } from './task-files.tsx';
import { TaskInputTab } from './task-input.tsx';
import { TaskJson } from './task-json.tsx';
import type { Detail } from './task.documents.ts';
import styles from './task.module.css';

const TABS = { outputs: 'Outputs', input: 'Input', deliveries: 'Deliveries', code: 'Code', json: 'JSON' } as const;
export type TaskTab = keyof typeof TABS;
export const isTaskTab = (text: string | undefined): text is TaskTab => text !== undefined && text in TABS;
const NAMES = Object.keys(TABS) as TaskTab[];

interface Props {
  row: TaskRow;
  detail: Detail;
  tab: TaskTab;
  seesWebhooks: boolean;
  onTab(tab: TaskTab): void;
}

/** The tabs of a task. The Tab key reaches the open tab; the arrow keys open the tabs beside it. */
export function TaskTabs({ row, detail, tab, seesWebhooks, onTab }: Props) {
  function onKeyDown(event: KeyboardEvent<HTMLDivElement>) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const next = NAMES[(NAMES.indexOf(tab) + by + NAMES.length) % NAMES.length] ?? 'outputs';
    onTab(next);
    event.currentTarget.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
  }
  return (
    <section aria-label="Details" className={styles.details}>
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- its tabs have the focus */}
      <div className={styles.tabs} role="tablist" onKeyDown={onKeyDown}>
        {NAMES.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            tabIndex={name === tab ? 0 : -1}
            aria-selected={name === tab}
            aria-controls="tab-panel"
            onClick={() => onTab(name)}
          >
            {TABS[name]}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} className={styles.panel}>
        {tab === 'outputs' && <TaskFiles row={row} />}
        {tab === 'input' && <TaskInputTab detail={detail} />}
        {tab === 'deliveries' && <TaskDeliveriesTab taskId={row.taskId} allowed={seesWebhooks} />}
        {tab === 'code' && <RequestCode request={requestOf(detail)} />}
        {tab === 'json' && <TaskJson row={row} />}
      </div>
    </section>
  );
}

/** The request that makes the task again. */
const requestOf = ({ model, input, metadata }: Detail): Record<string, unknown> => ({
  model,
  ...(input as Record<string, unknown>),
  ...(Object.keys(metadata as object).length > 0 && { metadata }),
});
