import { useCallback, useEffect, useRef, useState } from 'react';
import { run } from '../../api/client.ts';
import { asCallError, type CallError } from '../../api/errors.ts';
import { filterOf, matches, type TaskSearch } from '../../live/task-filter.ts';
import { placeOf, rememberPlace } from '../../live/list-places.ts';
import { onFeed } from '../../live/task-feed.ts';
import { putTasks, type TaskRow } from '../../live/task-store.ts';
import { toRow } from '../../live/task.documents.ts';
import { useWhenLive } from '../../live/use-when-live.ts';
import { GalleryPage } from './gallery.documents.ts';
import { type Shot, shotsOf } from '../../viewer/shot.ts';

export interface Gallery {
  shots: readonly Shot[];
  error: CallError | null;
  isLoading: boolean;
  hasMore: boolean;
  /** The file whose tile had the focus when the user left the gallery; null: none. */
  focusId: string | null;
  onFocus(fileId: string): void;
  /**
   * Reads further pages until `pick` finds an output, and returns this output. Returns null at the end of the list, after
   * about 2,000 further tasks, or if a page cannot be read.
   */
  readTo(pick: (shots: readonly Shot[]) => Shot | undefined): Promise<Shot | null>;
  /** Reads all further pages, but at most 2,000 tasks. Returns the last output, or null without any output. */
  readAll(): Promise<Shot | null>;
  /** Whether there are tasks that were not read yet. */
  isCut(): boolean;
  more(): void;
  /** Removes the tiles of deleted files. If the gallery also shows deleted files, the tiles become empty instead. */
  drop(fileIds: ReadonlySet<string>): void;
  /** How many new outputs match the filter but are not shown yet. */
  waiting: number;
  /** Reads the gallery again from its start, which shows the new outputs. */
  reload(): void;
}

/** One search for a file, a day or the end reads at most this many pages of 50 tasks. */
const MAX_SEARCHED_PAGES = 40;

const START = {
  shots: [] as readonly Shot[],
  cursor: null as string | null,
  hasMore: true,
  /** The latest end of a task on the first page, in unix seconds. */
  endedAt: 0,
};

const NONE: ReadonlySet<string> = new Set();

/**
 * The outputs of succeeded tasks, newest first, page by page. Live events do not move the pictures: new pictures are
 * shown only when the user asks for them.
 */
export function useGallery(search: TaskSearch, withExpired: boolean): Gallery {
  const { kept, collection } = search;
  const key = JSON.stringify(filterOf({ ...search, status: 'succeeded' }));
  const filter = `${key} ${withExpired}`;
  const [start] = useState(() => placeOf<typeof START>('gallery', filter));
  const [pages, setPages] = useState(start?.pages ?? START);
  const latest = useRef(pages);
  /** Ids of the outputs that were made since the gallery was read. */
  const [made, setMade] = useState<ReadonlySet<string>>(NONE);
  const [error, setError] = useState<CallError | null>(null);
  const [isLoading, setLoading] = useState(start === null);
  const busy = useRef<Promise<void> | null>(null);
  const round = useRef(0);
  /** The filter whose pictures are shown; null: no page was read yet. */
  const shown = useRef(start ? filter : null);
  const restored = useRef(start ? filter : null);

  /**
   * A task matches the filter if one of its outputs is kept, or in the collection. Its other outputs are left out here.
   */
  const isWanted = ({ output }: Shot) =>
    (withExpired || output.url !== null) &&
    (kept !== '1' || output.kept) &&
    (!collection || output.collection === collection);
  const readPage = useCallback(
    async (after: string | null, mine: number) => {
      setLoading(true);
      try {
        const { tasks } = await run(GalleryPage, { filter: JSON.parse(key) as ReturnType<typeof filterOf>, after });
        if (mine !== round.current) return; // a newer read of the first page has begun
        const rows = tasks.edges.map(({ node }) => toRow(node));
        putTasks(rows);
        const shots = rows.flatMap(shotsOf).filter(isWanted);
        const { endCursor, hasNextPage } = tasks.pageInfo;
        const before = latest.current;
        latest.current = {
          shots: after === null ? shots : [...before.shots, ...shots],
          cursor: endCursor,
          hasMore: hasNextPage,
          endedAt: after === null ? Math.max(0, ...rows.map(({ completedAt }) => completedAt)) : before.endedAt,
        };
        setPages(latest.current);
        if (after === null) setMade(NONE);
        shown.current = filter;
        setError(null);
      } catch (fault) {
        if (mine !== round.current) return;
        if (shown.current !== filter) {
          latest.current = START; // the pictures of another filter must not stay
          setPages(START);
        }
        setError(asCallError(fault));
      } finally {
        if (mine === round.current) {
          busy.current = null;
          setLoading(false);
        }
      }
    },
    // `filter` and `isWanted` are no dependencies, because their parameters are `key` and `withExpired`.
    // oxlint-disable-next-line react/exhaustive-deps
    [key, withExpired],
  );
  /** While a page is being read, no next page is requested. The first page of another filter does not wait. */
  const read = useCallback(
    (after: string | null): Promise<void> => {
      if (busy.current && after !== null) return busy.current;
      busy.current = readPage(after, after === null ? ++round.current : round.current);
      return busy.current;
    },
    [readPage],
  );
  /** Counts the new outputs that the gallery lacks. An empty gallery is read again instead. */
  const note = useCallback(
    (rows: readonly TaskRow[]) => {
      if (shown.current !== filter) return;
      const wanted = JSON.parse(key) as ReturnType<typeof filterOf>;
      const known = new Set(latest.current.shots.map(({ taskId }) => taskId));
      const news = rows.filter(
        (row) => !known.has(row.taskId) && row.completedAt >= latest.current.endedAt && matches(row, wanted),
      );
      const ids = news
        .flatMap(shotsOf)
        .filter(isWanted)
        .map(({ output }) => output.id);
      if (ids.length === 0) return;
      if (known.size === 0) void read(null);
      else setMade((before) => new Set([...before, ...ids]));
    },
    // `isWanted` is no dependency, because `filter` contains its parameters.
    // oxlint-disable-next-line react/exhaustive-deps
    [read, key, filter],
  );
  useWhenLive(() => void read(null), error !== null);
  useEffect(() => {
    const isRestored = restored.current === filter;
    restored.current = null;
    if (!isRestored) return void read(null);
    void run(GalleryPage, { filter: JSON.parse(key) as ReturnType<typeof filterOf>, after: null })
      .then(({ tasks }) => note(tasks.edges.map(({ node }) => toRow(node))))
      .catch(() => undefined); // the next event brings new outputs
  }, [read, note, key, filter]);
  useEffect(() => {
    const { metadata, batchId } = JSON.parse(key) as ReturnType<typeof filterOf>;
    // Rows of the feed have neither metadata nor a batch id, so it is unknown whether they match such a filter.
    return metadata || batchId ? undefined : onFeed((rows) => note(rows));
  }, [note, key]);
  useEffect(() => {
    if (pages.shots.length > 0) rememberPlace('gallery', { filter, pages });
  }, [pages, filter]);

  async function readTo(pick: (shots: readonly Shot[]) => Shot | undefined): Promise<Shot | null> {
    for (let page = 0; page < MAX_SEARCHED_PAGES; page++) {
      await busy.current;
      const { shots, hasMore, cursor } = latest.current;
      const found = pick(shots);
      if (found) return found;
      if (!hasMore || !cursor) return null;
      await read(cursor);
      if (latest.current.cursor === cursor) return null; // the page could not be read
    }
    return null;
  }

  return {
    shots: pages.shots,
    error,
    isLoading,
    hasMore: pages.hasMore,
    focusId: start?.focusId ?? null,
    onFocus: (focusId) => rememberPlace('gallery', { filter, pages, focusId }),
    readTo,
    readAll: async () => {
      await readTo(() => undefined);
      return latest.current.shots.at(-1) ?? null;
    },
    isCut: () => latest.current.hasMore,
    more: () => {
      if (pages.hasMore && pages.cursor && !busy.current) void read(pages.cursor);
    },
    drop: (fileIds) => {
      const { shots: before } = latest.current;
      const shots = withExpired
        ? before.map((shot) => (fileIds.has(shot.output.id) ? deleted(shot) : shot))
        : before.filter(({ output }) => !fileIds.has(output.id));
      latest.current = { ...latest.current, shots };
      setPages(latest.current);
    },
    waiting: made.size,
    reload: () => void read(null),
  };
}

const deleted = (shot: Shot): Shot => ({ ...shot, output: { ...shot.output, url: null, preview: null } });
