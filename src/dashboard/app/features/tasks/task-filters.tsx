import { useEffect, useRef } from 'react';
import { FAILURES } from '../../api/error-words.ts';
import type { ResultOf } from '../../api/graphql.ts';
import { count } from '../../format/numbers.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { useQuery } from '../../live/use-query.ts';
import { filterOf, isFiltered, STATUSES, type TaskSearch } from '../../live/task-filter.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { TextInput } from '../../parts/text-input.tsx';
import { TimeRange } from '../../parts/time-range.tsx';
import { MetadataFilter } from './metadata-filter.tsx';
import { ModelNames, TaskCounts } from './tasks.documents.ts';
import styles from './tasks.module.css';

/** The pause between reads of the counts. */
const COUNT_MS = 5_000;
/** The pause after the last key before a search. */
const TYPING_MS = 300;

interface Props {
  search: TaskSearch;
  /** @param isTyping the change replaces the entry of the history */
  onSearch(search: TaskSearch, isTyping?: boolean): void;
}

/** Every choice is part of the address. */
export function TaskFilters({ search, onSearch }: Props) {
  const { data } = useQuery(ModelNames, {});
  const { status: _, ...rest } = search;
  const { data: counts, reload } = useQuery(TaskCounts, { filter: filterOf(rest) });
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void reload(), COUNT_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const field = useRef<HTMLInputElement>(null);
  useShortcuts({ '/': () => field.current?.focus() });
  useEffect(() => {
    // After Clear and Back; what one types is not overwritten.
    if (field.current && field.current !== document.activeElement) field.current.value = search.q ?? '';
  }, [search.q]);
  const typing = useRef<ReturnType<typeof setTimeout>>(undefined);
  const find = (q: string) => {
    clearTimeout(typing.current);
    typing.current = setTimeout(() => onSearch({ ...search, q }, true), TYPING_MS);
  };
  const states = [
    { value: 'all', label: 'All' },
    ...STATUSES.map((value) => ({ value, label: stateLabel(value, counts?.taskCounts) })),
  ];
  const change = (part: { [Name in 'status' | 'kind' | 'model' | 'error' | 'from' | 'to']?: string | undefined }) =>
    onSearch({ ...search, ...part } as TaskSearch);
  return (
    <div className={styles.filters} role="search" aria-label="Filters">
      <Segments
        label="Status"
        value={search.status ?? 'all'}
        options={states}
        onChange={(status) => change({ status: status === 'all' ? undefined : status })}
      />
      <TextInput
        ref={field}
        type="search"
        className={styles.search}
        aria-label="Words in the prompt"
        placeholder="Words in the prompt  /"
        defaultValue={search.q ?? ''}
        onChange={(event) => find(event.target.value)}
      />
      <Select aria-label="Kind" value={search.kind ?? ''} onChange={(event) => change({ kind: event.target.value })}>
        <option value="">Any kind</option>
        <option value="image">Images</option>
        <option value="video">Films</option>
      </Select>
      <Select aria-label="Model" value={search.model ?? ''} onChange={(event) => change({ model: event.target.value })}>
        <option value="">Any model</option>
        {data?.models.map(({ id }) => (
          <option key={id}>{id}</option>
        ))}
      </Select>
      <Select aria-label="Error" value={search.error ?? ''} onChange={(event) => change({ error: event.target.value })}>
        <option value="">Any error</option>
        {Object.entries(FAILURES).map(([code, { title }]) => (
          <option key={code} value={code.toLowerCase()} title={title}>
            {code.toLowerCase()}
          </option>
        ))}
      </Select>
      <TimeRange from={search.from} to={search.to} onChange={({ from, to }) => change({ from, to })} />
      <MetadataFilter search={search} onSearch={onSearch} />
      {isFiltered(search) && (
        <Button variant="quiet" onClick={() => onSearch({})}>
          Clear
        </Button>
      )}
    </div>
  );
}

/** `Queued 12`. Of more than 10,000 final tasks only the newest are counted. */
function stateLabel(
  name: (typeof STATUSES)[number],
  counts: ResultOf<typeof TaskCounts>['taskCounts'] | undefined,
): string {
  const word = name.charAt(0).toUpperCase() + name.slice(1);
  return counts ? `${word} ${count(counts[name])}${counts.capped && counts[name] >= 10_000 ? '+' : ''}` : word;
}
