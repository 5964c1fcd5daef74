import { ArrowRight, Image, Search } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useQuery } from '../../live/use-query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import type { MenuItem } from '../../parts/menu-button.tsx';
import { StatusChip } from '../../parts/status-chip.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { targetOf } from './jump.ts';
import { RecentTasks } from './palette.documents.ts';
import styles from './palette.module.css';
import { MENU_ITEMS } from './menu-items.ts';

interface Props {
  /** Whether the key may read tasks. If not, the palette reads none. */
  readsTasks: boolean;
  actions: readonly MenuItem[];
  onClose(): void;
  onGo(path: string): void;
}

interface Option {
  /** A path to open, or a function to call. */
  to: string | (() => void);
  label: string;
  icon: ReactNode;
  aside?: ReactNode;
}

/**
 * Jumps to a screen by its name, to a recent task by its prompt, or to an object by its id. It also has the actions of
 * the key menu.
 */
export function Palette({ readsTasks, actions, onClose, onGo }: Props) {
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const list = useRef<HTMLDivElement>(null);
  const listId = useId();
  const { data } = useQuery(RecentTasks, readsTasks ? {} : null);
  const tasks = data?.tasks.edges.map(({ node }) => taskOption(node)) ?? [];
  const groups = groupsOf(text.trim(), { readsTasks, tasks, actions: actions.map(actionOption) });
  const options = groups.flatMap((group) => group.options);
  const at = Math.min(chosen, options.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [at]);

  function choose({ to }: Option) {
    if (typeof to === 'string') return onGo(to);
    onClose();
    to();
  }

  function onKeyDown(event: KeyboardEvent) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      setChosen((at + step + options.length) % Math.max(1, options.length));
    }
    const option = options[at];
    if (event.key === 'Enter' && option) choose(option);
  }

  return (
    <Dialog open title="Search or jump" onClose={onClose}>
      <TextInput
        role="combobox"
        aria-label="Screen, task, action or id"
        aria-expanded
        aria-controls={listId}
        aria-activedescendant={options[at] ? `${listId}-${at}` : undefined}
        placeholder="A screen, a task, or any id: task_… file_… we_… key_…"
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div ref={list} className={styles.list} role="listbox" id={listId} aria-label="Places">
        {groups.map(({ heading, options: own }) => (
          <div key={heading} role="group" aria-label={heading}>
            <p className={styles.heading} aria-hidden>
              {heading}
            </p>
            {own.map((option) => {
              const index = options.indexOf(option);
              return (
                // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the field above has the focus and the keys
                <div
                  key={option.label + index}
                  id={`${listId}-${index}`}
                  className={styles.option}
                  role="option"
                  tabIndex={-1}
                  aria-selected={index === at}
                  onClick={() => choose(option)}
                >
                  {option.icon}
                  <bdi className={styles.name}>{option.label}</bdi>
                  {option.aside}
                </div>
              );
            })}
          </div>
        ))}
      </div>
      {options.length === 0 && <p>Nothing has this name or id.</p>}
    </Dialog>
  );
}

/** The options that match the text. A whole id gives only the option to open it. */
function groupsOf(
  text: string,
  { readsTasks, tasks, actions }: { readsTasks: boolean; tasks: readonly Option[]; actions: readonly Option[] },
): { heading: string; options: Option[] }[] {
  const target = targetOf(text);
  if (target)
    return [{ heading: 'Id', options: [{ to: target, label: `Open ${text}`, icon: <ArrowRight aria-hidden /> }] }];
  const words = text.toLowerCase();
  const fits = ({ label }: { label: string }) => label.toLowerCase().includes(words);
  const search = {
    to: `/tasks?${new URLSearchParams({ q: text }).toString()}`,
    label: `Tasks with “${text}” in the prompt`,
    icon: <Search aria-hidden />,
  };
  return [
    {
      heading: 'Screens',
      options: MENU_ITEMS.filter(fits).map(({ to, label, Icon }) => ({ to, label, icon: <Icon aria-hidden /> })),
    },
    { heading: 'Recent tasks', options: tasks.filter(fits) },
    { heading: 'Actions', options: actions.filter(fits) },
    { heading: 'Search', options: text !== '' && readsTasks ? [search] : [] },
  ].filter(({ options }) => options.length > 0);
}

interface RecentTask {
  taskId: string;
  promptStart: string;
  status: 'QUEUED' | 'RUNNING' | 'SUCCEEDED' | 'FAILED';
  progress: number;
  error: { code: string } | null;
}

const actionOption = ({ label, icon, href, onSelect }: MenuItem): Option => ({
  to: href ? () => location.assign(href) : () => onSelect?.(),
  label,
  icon,
});

const taskOption = ({ taskId, promptStart, status, progress, error }: RecentTask): Option => ({
  to: `/tasks/${taskId}`,
  label: promptStart || taskId,
  icon: <Image aria-hidden />,
  aside: <StatusChip status={status} progress={progress} errorCode={error?.code} />,
});
