import { Clapperboard, Crosshair, ImagePlus, Images, ListTodo } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { part } from '../../api/late-part.ts';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { endOfDay } from '../../format/time.ts';
import { OwnFile } from '../../live/file.documents.ts';
import { isFiltered } from '../../live/task-filter.ts';
import { isUsablePicture } from '../../live/task-store.ts';
import { useQuery } from '../../live/use-query.ts';
import { useTask } from '../../live/use-task.ts';
import { AbsentPage } from '../../parts/absent-page.tsx';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { NewsPill } from '../../parts/news-pill.tsx';
import { Page } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import { report } from '../../parts/toasts.ts';
import styles from './gallery.module.css';
import { GalleryFilters } from './gallery-filters.tsx';
import { GalleryGrid, type Target } from './gallery-grid.tsx';
import type { GallerySearch } from './gallery-search.ts';
import { SelectionBar } from './selection-bar.tsx';
import { KeepKeys } from '../../viewer/keep-keys.tsx';
import { type Shot, shotsOf, taskOf } from '../../viewer/shot.ts';
import { useGallery } from './use-gallery.ts';

/** The viewer and its dialog are half of the gallery's code, so they are loaded when the first picture is opened. */
const FullViewer = lazy(
  part(() => import('../../viewer/full-viewer.tsx').then(({ FullViewer: it }) => ({ default: it }))),
);

/** Height of a row in pixels. */
const SIZES = { s: 140, m: 220, l: 340 };
type Size = keyof typeof SIZES;

interface Props {
  search: GallerySearch;
  /** The id of the file that is open in the viewer; null: none. */
  fileId: string | null;
  mayCreate: boolean;
  /** @param isTyping true while the user types: the change then replaces the entry of the history */
  onSearch(search: GallerySearch, isTyping?: boolean): void;
  onShow(fileId: string | null, replace: boolean): void;
  onTask(taskId: string, output: number): void;
  onUse(fileId: string): void;
  onAnimate(shot: Shot): void;
  onCreate(): void;
}

/** The pictures and films of the API key, as tiles. */
export function GalleryPage(props: Props) {
  const { search, fileId, onSearch, onShow } = props;
  const gallery = useGallery(search, search.expired === '1');
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [located, setLocated] = useState<Target | null>(null);
  useShortcuts(selected.size > 0 && !fileId ? { escape: () => setSelected(new Set()) } : {});
  const size: Size = search.size && search.size in SIZES ? (search.size as Size) : 'm';
  // The address may name a file that the gallery has not read yet.
  const linked = useTask(taskOf(fileId));
  const linkedShot = linked && shotsOf(linked).find(({ output }) => output.id === fileId);
  const shown = fileId ? gallery.shots.findIndex(({ output }) => output.id === fileId) : -1;
  const show = (shot: Shot | undefined, replace = false) => shot && onShow(shot.output.id, replace);
  const close = () => {
    setLocated(fileId ? { fileId, as: 'tile' } : null);
    onShow(null, false);
  };
  const locate = async () => {
    const found = fileId && (await gallery.readTo((shots) => shots.find(({ output }) => output.id === fileId)));
    if (!found) return report('This file is not among those that match.', true);
    close();
  };
  const jump = async (to: string, focus: boolean) => {
    const before = endOfDay(to);
    const found = await gallery.readTo((shots) => shots.find(({ createdAt }) => createdAt < before));
    if (found) return setLocated({ fileId: found.output.id, as: focus ? 'day, focused' : 'day' });
    // Reading all pages up to the day would take too long, so the gallery begins with the day instead.
    if (gallery.isCut()) return onSearch({ ...search, to: String(before) });
    report('Nothing of that day or before it matches.');
  };
  const showNew = () => {
    gallery.reload();
    window.scrollTo(0, 0);
  };
  const current = gallery.shots[shown] ?? linkedShot;
  const named = useQuery(OwnFile, fileId && !current && !gallery.isLoading ? { id: fileId } : null);
  const viewerKeys = {
    l: () => void locate(),
    t: () => current && props.onTask(current.taskId, current.output.index + 1),
    ...(props.mayCreate && { u: () => current && isUsablePicture(current.output) && props.onUse(current.output.id) }),
  };
  const isEmpty = gallery.shots.length === 0 && !gallery.isLoading && !gallery.hasMore;

  if (fileId && !current && named.error?.code === 'file_not_found') {
    return (
      <AbsentPage title="Gallery" absent="No file of yours has this id" to="/gallery" screen="Gallery">
        It was deleted, or it belongs to another key.
      </AbsentPage>
    );
  }
  return (
    <Page
      title="Gallery"
      actions={
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
      }
    >
      <GalleryFilters search={search} onSearch={onSearch} onJump={(to, focus) => void jump(to, focus)} />
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
        <>
          <NewsPill count={fileId ? 0 : gallery.waiting} noun="new output" onShow={showNew} />
          <GalleryGrid
            gallery={gallery}
            rowHeight={SIZES[size]}
            selected={selected}
            located={fileId ? null : located}
            onSelect={setSelected}
            onOpen={(shot) => show(shot)}
            onTask={props.onTask}
            onUse={props.mayCreate ? props.onUse : null}
            mayKeep={props.mayCreate}
          />
        </>
      )}
      {props.mayCreate && (
        <KeepKeys
          {...(selected.size > 0 && { target: () => gallery.shots.filter(({ output }) => selected.has(output.id)) })}
        />
      )}
      {selected.size > 0 && (
        <SelectionBar
          shots={gallery.shots.filter(({ output }) => selected.has(output.id))}
          onUse={props.mayCreate ? props.onUse : null}
          mayKeep={props.mayCreate}
          onDeleted={gallery.drop}
          onClear={() => setSelected(new Set())}
        />
      )}
      {gallery.isLoading && <p className={styles.end}>Loading…</p>}
      {fileId && (
        <Suspense>
          <FullViewer
            shot={gallery.shots[shown] ?? linkedShot ?? null}
            shots={shown >= 0 ? gallery.shots : linked ? shotsOf(linked) : []}
            isLoading={gallery.isLoading || named.isLoading}
            home="Gallery"
            onGo={(shot) => show(shot, true)}
            onStep={(by) => {
              show(gallery.shots[shown + by], true);
              if (shown + by >= gallery.shots.length - 5) gallery.more();
            }}
            onEnd={(last) =>
              last ? void gallery.readAll().then((shot) => shot && show(shot, true)) : show(gallery.shots[0], true)
            }
            onClose={close}
            mayKeep={props.mayCreate}
            shortcuts={viewerKeys}
            renderActs={(shot) => (
              <>
                {props.mayCreate && isUsablePicture(shot.output) && (
                  <>
                    <Button onClick={() => props.onAnimate(shot)}>
                      <Clapperboard aria-hidden /> Animate
                    </Button>
                    <Button onClick={() => props.onUse(shot.output.id)}>
                      <ImagePlus aria-hidden /> Use as reference
                    </Button>
                  </>
                )}
                <Button onClick={() => void locate()}>
                  <Crosshair aria-hidden /> Locate <kbd>l</kbd>
                </Button>
                <Button onClick={() => props.onTask(shot.taskId, shot.output.index + 1)}>
                  <ListTodo aria-hidden /> Task <kbd>t</kbd>
                </Button>
              </>
            )}
          />
        </Suspense>
      )}
    </Page>
  );
}
