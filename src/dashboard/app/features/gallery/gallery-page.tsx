import { Images } from 'lucide-react';
import { isFiltered, type TaskSearch } from '../../live/task-filter.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Select } from '../../parts/select.tsx';
import styles from './gallery.module.css';
import { GalleryGrid } from './gallery-grid.tsx';
import { Lightbox } from './lightbox.tsx';
import { type Shot, useGallery } from './use-gallery.ts';

export interface GallerySearch extends TaskSearch {
  size?: string;
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
  const gallery = useGallery(search);
  const size: Size = search.size && search.size in SIZES ? (search.size as Size) : 'm';
  const shown = fileId ? gallery.shots.findIndex(({ output }) => output.id === fileId) : -1;
  const show = (shot: Shot | undefined, replace = false) => shot && onShow(shot.output.id, replace);
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
          onOpen={(shot) => show(shot)}
          onTask={props.onTask}
          onUse={props.mayCreate ? props.onUse : null}
        />
      )}
      {gallery.isLoading && <p className={styles.end}>Loading…</p>}
      {fileId && (
        <Lightbox
          shot={gallery.shots[shown] ?? null}
          isLoading={gallery.isLoading}
          onStep={(by) => {
            show(gallery.shots[shown + by], true);
            if (shown + by >= gallery.shots.length - 5) gallery.more();
          }}
          onEnd={(last) => show(last ? gallery.shots.at(-1) : gallery.shots[0], true)}
          onClose={() => onShow(null, false)}
          onTask={props.onTask}
          onUse={props.mayCreate ? props.onUse : null}
        />
      )}
    </Page>
  );
}
