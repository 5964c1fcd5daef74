import { Star } from 'lucide-react';
import { isFiltered } from '../../live/task-filter.ts';
import { useModelNames } from '../../live/model-names.ts';
import { Checkbox } from '../../parts/checkbox.tsx';
import { Button } from '../../parts/button.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { kindWord, KindSelect } from '../../parts/kind-select.tsx';
import { ModelSelect } from '../../parts/model-select.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { rangeWords, TimeRange } from '../../parts/time-range.tsx';
import { CollectionSelect } from '../../viewer/collection-select.tsx';
import type { GallerySearch } from './gallery-search.ts';
import { JumpToDay } from './jump-to-day.tsx';

interface Props {
  search: GallerySearch;
  /** @param isTyping true while the user types: the change then replaces the entry of the history */
  onSearch(search: GallerySearch, isTyping?: boolean): void;
  onJump(day: string, focus: boolean): void;
}

/** The filters of the gallery, and a jump to a day. */
export function GalleryFilters({ search, onSearch, onJump }: Props) {
  const models = useModelNames();
  const change = (part: {
    [Name in 'kind' | 'model' | 'from' | 'to' | 'expired' | 'kept' | 'collection']?: string | undefined;
  }) => onSearch({ ...search, ...part } as GallerySearch);
  const { size, kind, model, from, to, expired, kept, collection, q } = search;
  const range = rangeWords(from, to);
  const chips = [
    ...(kindWord(kind) ? [{ label: kindWord(kind), onRemove: () => change({ kind: '' }) }] : []),
    ...(model ? [{ label: model, onRemove: () => change({ model: '' }) }] : []),
    ...(range ? [{ label: range, onRemove: () => change({ from: '', to: '' }) }] : []),
    ...(collection ? [{ label: `In ${collection}`, onRemove: () => change({ collection: '' }) }] : []),
    ...(expired === '1' ? [{ label: 'With deleted files', onRemove: () => change({ expired: '' }) }] : []),
  ];
  return (
    <FilterBar
      chips={chips}
      isFiltered={isFiltered(search) || expired === '1'}
      onClear={() => onSearch(size ? { size } : {})}
      renderMore={(isShown) => (
        <>
          <KindSelect value={kind ?? ''} onChange={(next) => change({ kind: next })} />
          <ModelSelect models={models} value={model ?? ''} onChange={(next) => change({ model: next })} />
          <TimeRange from={from} to={to} onChange={(next) => change({ from: next.from, to: next.to })} />
          <CollectionSelect
            isShown={isShown}
            value={collection ?? ''}
            onChange={(next) => change({ collection: next })}
          />
          <Checkbox
            checked={expired === '1'}
            onChange={(event) => change({ expired: event.target.checked ? '1' : '' })}
          >
            With deleted files
          </Checkbox>
        </>
      )}
    >
      <SearchField value={q ?? ''} onFind={(next) => onSearch({ ...search, q: next }, true)} />
      <Button aria-pressed={kept === '1'} onClick={() => change({ kept: kept === '1' ? '' : '1' })}>
        <Star aria-hidden /> Kept
      </Button>
      <JumpToDay onJump={onJump} />
    </FilterBar>
  );
}
