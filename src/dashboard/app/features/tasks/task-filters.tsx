import { useQuery } from '../../live/use-query.ts';
import { isFiltered, STATUSES, type TaskSearch } from '../../live/task-filter.ts';
import { Button } from '../../parts/button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { ModelNames } from './tasks.documents.ts';
import styles from './tasks.module.css';

const STATES = [
  { value: 'all', label: 'All' },
  ...STATUSES.map((value) => ({ value, label: value[0]?.toUpperCase() + value.slice(1) })),
];
const HOUR = 3_600;
const SPANS = { hour: HOUR, day: 24 * HOUR, week: 168 * HOUR };

interface Props {
  search: TaskSearch;
  onSearch(search: TaskSearch): void;
}

/** Every choice is part of the address. */
export function TaskFilters({ search, onSearch }: Props) {
  const { data } = useQuery(ModelNames, {});
  const change = (part: TaskSearch) => onSearch({ ...search, ...part });
  const since = (name: string) =>
    change({
      from: name in SPANS ? String(Math.floor(Date.now() / 1_000) - SPANS[name as keyof typeof SPANS]) : undefined,
    } as TaskSearch);
  return (
    <div className={styles.filters} role="search" aria-label="Filters">
      <Segments
        label="Status"
        value={search.status ?? 'all'}
        options={STATES}
        onChange={(status) => change({ status: status === 'all' ? undefined : status } as TaskSearch)}
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
      <Select aria-label="Time" value={spanOf(search.from)} onChange={(event) => since(event.target.value)}>
        <option value="">Any time</option>
        <option value="hour">Last hour</option>
        <option value="day">Last 24 hours</option>
        <option value="week">Last 7 days</option>
        {spanOf(search.from) === 'other' && <option value="other">Since a time</option>}
      </Select>
      {isFiltered(search) && (
        <Button variant="quiet" onClick={() => onSearch({})}>
          Clear
        </Button>
      )}
    </div>
  );
}

/** The choice that an address stands for: the time since then has grown a little. */
function spanOf(from: string | undefined): string {
  if (!from) return '';
  const age = Date.now() / 1_000 - Number(from);
  const near = Object.entries(SPANS).find(([, seconds]) => age >= seconds && age < seconds * 1.5);
  return near?.[0] ?? 'other';
}
