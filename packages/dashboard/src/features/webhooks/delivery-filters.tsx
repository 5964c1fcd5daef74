import { useEffect, useRef } from 'react';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { TimeRange } from '../../parts/time-range.tsx';
import { type DeliverySearch, isFiltered } from './delivery-search.ts';
import { EVENT_NAMES } from './event-name.ts';
import styles from './webhooks.module.css';

const OUTCOMES = [
  { value: 'all', label: 'All' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'waiting', label: 'Waiting' },
];
/** The pause between the last keystroke and the reading of the log. */
const TYPING_MS = 300;

interface Props {
  search: DeliverySearch;
  onSearch(search: DeliverySearch, isTyping?: boolean): void;
}

/** The filters of the log. Every choice is part of the address. */
export function DeliveryFilters({ search, onSearch }: Props) {
  const task = useRef<HTMLInputElement>(null);
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    // After Clear and Back the field takes the address's value, but not while the user types in it.
    if (task.current && task.current !== document.activeElement) task.current.value = search.task ?? '';
  }, [search.task]);
  const change = (part: { [Name in keyof DeliverySearch]: string | undefined }) =>
    onSearch({ ...search, ...part } as DeliverySearch);
  const find = (text: string) => {
    clearTimeout(typing.current);
    typing.current = setTimeout(() => onSearch({ ...search, task: text.trim() }, true), TYPING_MS);
  };
  return (
    <div className={styles.filters} role="search" aria-label="Filters">
      <Segments
        label="Outcome"
        value={search.outcome ?? 'all'}
        options={OUTCOMES}
        onChange={(outcome) => change({ outcome: outcome === 'all' ? undefined : outcome })}
      />
      <Select aria-label="Event" value={search.event ?? ''} onChange={(event) => change({ event: event.target.value })}>
        <option value="">Any event</option>
        {EVENT_NAMES.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </Select>
      <TextInput
        ref={task}
        type="search"
        className={styles.taskField}
        aria-label="Task"
        placeholder="task_…"
        spellCheck={false}
        defaultValue={search.task ?? ''}
        onChange={(event) => find(event.target.value)}
      />
      <TimeRange from={search.from} to={search.to} onChange={({ from, to }) => change({ from, to })} />
      {isFiltered(search) && (
        <Button variant="quiet" onClick={() => onSearch({})}>
          Clear
        </Button>
      )}
    </div>
  );
}
