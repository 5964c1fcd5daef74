import { Images } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { isFiltered, type TaskSearch } from '../../live/task-filter.ts';
import { useTask } from '../../live/use-task.ts';
import { Button } from '../../parts/button.tsx';
import { Checkbox } from '../../parts/checkbox.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import { report } from '../../parts/toasts.ts';
import styles from './gallery.module.css';
import { GalleryGrid } from './gallery-grid.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { type Shot, shotsOf, taskOf } from './shot.ts';
import { useGallery } from './use-gallery.ts';

/** The viewer and its dialog are half of the weight, so they arrive with the first picture that is opened. */
const Lightbox = lazy(() => import('./lightbox.tsx').then(({ Lightbox: part }) => ({ default: part })));

export interface GallerySearch extends TaskSearch {
  size?: string;
  /** `1`: with the places of deleted files. */
  expired?: string;
}

/** Height of a row in pixels. */
const SIZES = { s: 140, m: 220, l: 340 };
type Size = keyof typeof SIZES;

interface Props {
  search: GallerySearch;
  /** The file in the lightbox. */
  fileId: string | null;
  mayCreate: boolean;
  onSearch(search: GallerySearch): void;
  onShow(fileId: string | null, replace: boolean): void;
  onTask(taskId: string, output: number): void;
  onUse(fileId: string): void;
  onCreate(): void;
}

/** Everything made, as pictures. */
export function GalleryPage(props: Props) {
  const { search, fileId, onSearch, onShow } = props;
  const gallery = useGallery(search, search.expired === '1');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [located, setLocated] = useState<string | null>(null);
  useShortcuts(selected.size > 0 && !fileId ? { escape: () => setSelected(new Set()) } : {});
  const size: Size = search.size && search.size in SIZES ? (search.size as Size) : 'm';
  // A link may lead to a file that is not read yet.
  const linked = useTask(taskOf(fileId));
  const linkedShot = linked && shotsOf(linked).find(({ output }) => output.id === fileId);
  const shown = fileId ? gallery.shots.findIndex(({ output }) => output.id === fileId) : -1;
  const show = (shot: Shot | undefined, replace = false) => shot && onShow(shot.output.id, replace);
  const close = () => {
    setLocated(fileId);
    onShow(null, false);
  };
  const locate = async () => {
    if (!fileId || !(await gallery.find(fileId))) return report('This file is not among those that match.', true);
    close();
  };
  const isEmpty = gallery.shots.length === 0 && !gallery.isLoading && !gallery.hasMore;

  return (
    <Page
      title="Gallery"
      actions={
        <>
          <Select
            aria-label="Kind"
            value={search.kind ?? ''}
            onChange={(event) => onSearch({ ...search, kind: event.target.value })}
          >
            <option value="">Images and films</option>
            <option value="image">Images</option>
            <option value="video">Films</option>
          </Select>
          <Checkbox
            checked={search.expired === '1'}
            onChange={(event) => onSearch({ ...search, expired: event.target.checked ? '1' : '' })}
          >
            Deleted too
          </Checkbox>
          <Segments<Size>
            label="Size"
            value={size}
            options={[
              { value: 's', label: 'S', title: 'Small' },
              { value: 'm', label: 'M', title: 'Medium' },
              { value: 'l', label: 'L', title: 'Large' },
            ]}
            onChange={(next) => onSearch({ ...search, size: next })}
          />
        </>
      }
    >
      {gallery.error && gallery.shots.length === 0 ? (
        <ErrorPanel error={gallery.error} onRetry={gallery.reload} />
      ) : isEmpty ? (
        <EmptyState
          icon={<Images size={28} aria-hidden />}
          title={isFiltered(search) ? 'Nothing matches these filters' : 'Nothing made yet'}
          action={
            isFiltered(search) ? (
              <Button onClick={() => onSearch({})}>Clear the filters</Button>
            ) : (
              <Button variant="primary" onClick={props.onCreate}>
                Create
              </Button>
            )
          }
        />
      ) : (
        <GalleryGrid
          gallery={gallery}
          rowHeight={SIZES[size]}
          selected={selected}
          located={fileId ? null : located}
          onSelect={setSelected}
          onOpen={(shot) => show(shot)}
          onTask={props.onTask}
          onUse={props.mayCreate ? props.onUse : null}
        />
      )}
      {selected.size > 0 && (
        <SelectionBar
          shots={gallery.shots.filter(({ output }) => selected.has(output.id))}
          onUse={props.mayCreate ? props.onUse : null}
          onClear={() => setSelected(new Set())}
        />
      )}
      {gallery.isLoading && <p className={styles.end}>Loading…</p>}
      {fileId && (
        <Suspense>
          <Lightbox
            shot={gallery.shots[shown] ?? linkedShot ?? null}
            isLoading={gallery.isLoading}
            onLocate={() => void locate()}
            onStep={(by) => {
              show(gallery.shots[shown + by], true);
              if (shown + by >= gallery.shots.length - 5) gallery.more();
            }}
            onEnd={(last) => show(last ? gallery.shots.at(-1) : gallery.shots[0], true)}
            onClose={close}
            onTask={props.onTask}
            onUse={props.mayCreate ? props.onUse : null}
          />
        </Suspense>
      )}
    </Page>
  );
}
