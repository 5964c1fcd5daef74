import { isFiltered } from '../../live/task-filter.ts';
import { useModelNames } from '../../live/model-names.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { KindSelect } from '../../parts/kind-select.tsx';
import { ModelSelect } from '../../parts/model-select.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { TimeRange } from '../../parts/time-range.tsx';
import type { GallerySearch } from './gallery-search.ts';
import styles from './gallery.module.css';
import { JumpToDay } from './jump-to-day.tsx';

interface Props {
  search: GallerySearch;
  /** @param isTyping the change replaces the entry of the history */
  onSearch(search: GallerySearch, isTyping?: boolean): void;
  onJump(day: string, focus: boolean): void;
}

/** What the gallery shows, and where in it one is. */
export function GalleryFilters({ search, onSearch, onJump }: Props) {
  const models = useModelNames();
  const change = (part: { [Name in 'kind' | 'model' | 'from' | 'to' | 'expired']?: string | undefined }) =>
    onSearch({ ...search, ...part } as GallerySearch);
  const { size } = search;
  return (
    <FilterBar isFiltered={isFiltered(search)} onClear={() => onSearch(size ? { size } : {})}>
      <SearchField value={search.q ?? ''} onFind={(q) => onSearch({ ...search, q }, true)} />
      <KindSelect value={search.kind ?? ''} onChange={(kind) => change({ kind })} />
      <ModelSelect models={models} value={search.model ?? ''} onChange={(model) => change({ model })} />
      <TimeRange from={search.from} to={search.to} onChange={({ from, to }) => change({ from, to })} />
      <Checkbox
        checked={search.expired === '1'}
        onChange={(event) => change({ expired: event.target.checked ? '1' : '' })}
      >
        Deleted too
      </Checkbox>
      <span className={styles.jump}>
        <JumpToDay onJump={onJump} />
      </span>
    </FilterBar>
  );
}
