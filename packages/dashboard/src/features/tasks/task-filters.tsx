import { useEffect } from 'react';
import { FAILURES } from '../../api/error-words.ts';
import type { ResultOf } from '../../api/graphql.ts';
import { count } from '../../format/numbers.ts';
import { useModelNames } from '../../live/model-names.ts';
import { useQuery } from '../../live/use-query.ts';
import { filterOf, isFiltered, STATUSES, type TaskSearch, UNFINISHED } from '../../live/task-filter.ts';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { KindSelect } from '../../parts/kind-select.tsx';
import { ModelSelect } from '../../parts/model-select.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { TimeRange } from '../../parts/time-range.tsx';
import { MetadataFilter } from './metadata-filter.tsx';
import { TaskCounts } from './tasks.documents.ts';

/** The pause between reads of the counts. */
const COUNT_MS = 5_000;

interface Props {
  search: TaskSearch;
  /** @param isTyping the change replaces the entry of the history */
  onSearch(search: TaskSearch, isTyping?: boolean): void;
}

/** Every choice is part of the address. */
export function TaskFilters({ search, onSearch }: Props) {
  const models = useModelNames();
  const { status: _, ...rest } = search;
  const { data: counts, reload } = useQuery(TaskCounts, { filter: filterOf(rest) });
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && void reload(), COUNT_MS);
    return () => clearInterval(timer);
  }, [reload]);
  const states = [
    { value: 'all', label: 'All' },
    { value: UNFINISHED, label: 'Unfinished' },
    ...STATUSES.map((value) => ({ value, label: stateLabel(value, counts?.taskCounts) })),
  ];
  const change = (part: { [Name in 'status' | 'kind' | 'model' | 'error' | 'from' | 'to']?: string | undefined }) =>
    onSearch({ ...search, ...part } as TaskSearch);
  return (
    <FilterBar isFiltered={isFiltered(search)} onClear={() => onSearch({})}>
      <Segments
        label="Status"
        value={filterOf(search).statuses?.join(',').toLowerCase() ?? 'all'}
        options={states}
        onChange={(status) => change({ status: status === 'all' ? undefined : status })}
      />
      <SearchField value={search.q ?? ''} onFind={(q) => onSearch({ ...search, q }, true)} />
      <KindSelect value={search.kind ?? ''} onChange={(kind) => change({ kind })} />
      <ModelSelect models={models} value={search.model ?? ''} onChange={(model) => change({ model })} />
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
    </FilterBar>
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
