import { FAILURES } from '../../api/error-words.ts';
import { shortId } from '../../format/id.ts';
import { count } from '../../format/numbers.ts';
import { useModelNames } from '../../live/model-names.ts';
import type { Counts } from '../../live/task-counts.documents.ts';
import { isFiltered, metadataOf, STATES, statesOf, type TaskSearch, UNFINISHED } from '../../live/task-filter.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import { CollectionSelect } from '../../viewer/collection-select.tsx';
import { FilterBar, type FilterChip } from '../../parts/filter-bar.tsx';
import { kindWord, KindSelect } from '../../parts/kind-select.tsx';
import { ModelSelect } from '../../parts/model-select.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { rangeWords, TimeRange } from '../../parts/time-range.tsx';
import { MetadataFilter } from './metadata-filter.tsx';

interface Props {
  search: TaskSearch;
  /** The counts by status of the tasks that match all filters but the status; null: not counted yet. */
  counts: Counts | null;
  /** @param isTyping true while the user types: the change then replaces the entry of the history */
  onSearch(search: TaskSearch, isTyping?: boolean): void;
}

/** The filters of the list. Every choice is part of the address. */
export function TaskFilters({ search, counts, onSearch }: Props) {
  const models = useModelNames();
  const states = [
    { value: 'all', label: 'All' },
    { value: UNFINISHED, label: 'Unfinished' },
    ...STATES.map((value) => ({ value, label: stateLabel(value, counts) })),
  ];
  const change = (part: {
    [Name in 'status' | 'kind' | 'model' | 'error' | 'from' | 'to' | 'kept' | 'collection']?: string | undefined;
  }) => onSearch({ ...search, ...part } as TaskSearch);
  return (
    <FilterBar
      chips={chipsOf(search, onSearch)}
      isFiltered={isFiltered(search)}
      onClear={() => onSearch({})}
      renderMore={(isShown) => (
        <>
          <KindSelect value={search.kind ?? ''} onChange={(kind) => change({ kind })} />
          <ModelSelect models={models} value={search.model ?? ''} onChange={(model) => change({ model })} />
          <Select
            aria-label="Error"
            value={search.error ?? ''}
            onChange={(event) => change({ error: event.target.value })}
          >
            <option value="">Any error</option>
            {Object.entries(FAILURES).map(([code, { title }]) => (
              <option key={code} value={code.toLowerCase()} title={title}>
                {code.toLowerCase()}
              </option>
            ))}
          </Select>
          <TimeRange from={search.from} to={search.to} onChange={({ from, to }) => change({ from, to })} />
          <CollectionSelect
            isShown={isShown}
            value={search.collection ?? ''}
            onChange={(collection) => change({ collection })}
          />
          <Checkbox
            checked={search.kept === '1'}
            onChange={(event) => change({ kept: event.target.checked ? '1' : '' })}
          >
            Kept
          </Checkbox>
          <MetadataFilter search={search} onSearch={onSearch} />
        </>
      )}
    >
      <Segments
        label="Status"
        value={statesOf(search).join(',') || 'all'}
        options={states}
        onChange={(status) => change({ status: status === 'all' ? undefined : status })}
      />
      <SearchField value={search.q ?? ''} onFind={(q) => onSearch({ ...search, q }, true)} />
    </FilterBar>
  );
}

/** The filters behind the button Filter, each with a function that removes it. */
function chipsOf(search: TaskSearch, onSearch: Props['onSearch']): FilterChip[] {
  const without = (...names: (keyof TaskSearch)[]) => {
    const next = { ...search };
    for (const name of names) delete next[name];
    onSearch(next);
  };
  const { kind, model, error, batch, from, to, kept, collection } = search;
  const range = rangeWords(from, to);
  return [
    ...(kindWord(kind) ? [{ label: kindWord(kind), onRemove: () => without('kind') }] : []),
    ...(model ? [{ label: model, onRemove: () => without('model') }] : []),
    ...(error ? [{ label: error, onRemove: () => without('error') }] : []),
    ...(kept === '1' ? [{ label: 'Kept', onRemove: () => without('kept') }] : []),
    ...(collection ? [{ label: `In ${collection}`, onRemove: () => without('collection') }] : []),
    ...(batch ? [{ label: `batch ${shortId(batch)}`, onRemove: () => without('batch') }] : []),
    ...(range ? [{ label: range, onRemove: () => without('from', 'to') }] : []),
    ...Object.entries(metadataOf(search)).map(([name, value]) => ({
      label: `${name} = ${value}`,
      onRemove: () => without(`meta.${name}`),
    })),
  ];
}

/**
 * `Queued 12`. The service counts at most 10,000 unfinished and 10,000 final tasks. A `+` says that there may be more.
 */
function stateLabel(name: (typeof STATES)[number], counts: Counts | null): string {
  const word = name.charAt(0).toUpperCase() + name.slice(1);
  if (!counts) return word;
  // The service counts cancelled tasks among the failed ones.
  const value = name === 'failed' ? counts.failed - counts.cancelled : counts[name];
  return `${word} ${count(value)}${counts.capped && value >= 10_000 ? '+' : ''}`;
}
