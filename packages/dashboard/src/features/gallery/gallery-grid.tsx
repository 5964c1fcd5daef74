import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { day } from '../../format/time.ts';
import { isUsablePicture } from '../../live/task-store.ts';
import styles from './gallery.module.css';
import { justifiedRows, neighbour, type Row } from './justified-rows.ts';
import { GalleryTile } from './gallery-tile.tsx';
import type { Shot } from '../../viewer/shot.ts';
import type { Gallery } from './use-gallery.ts';

const GAP = 8;
const HEADING = 44;
/** Height in pixels of the bars over the list, with a margin. */
const UNDER_BARS = 72;
/** How many rows are drawn beyond each edge of the screen. */
const OVERSCAN = 3;

type Line = { day: string } | { row: Row<Shot> };

export interface Target {
  fileId: string;
  /** `tile`: the tile gets the focus. `day`: the day of the tile is scrolled to the top. `day, focused`: both. */
  as: 'tile' | 'day' | 'day, focused';
}

interface Props {
  gallery: Gallery;
  rowHeight: number;
  selected: ReadonlySet<string>;
  /** The tile or day to scroll to; null: none. */
  located: Target | null;
  onSelect(selected: ReadonlySet<string>): void;
  onOpen(shot: Shot): void;
  onTask(taskId: string, output: number): void;
  onUse: ((fileId: string) => void) | null;
  mayKeep: boolean;
}

/** Rows of pictures under their days. Tab reaches one tile; arrow keys move on from it. */
export function GalleryGrid(props: Props) {
  const { gallery, rowHeight, selected, located, onSelect, onOpen, onTask, onUse, mayKeep } = props;
  const { shots, hasMore, isLoading, error, more } = gallery;
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [current, setCurrent] = useState<string | null>(gallery.focusId);
  /** The last tile of all, which gets the focus once it is drawn. */
  const [end, setEnd] = useState<Shot | null>(null);
  const anchor = useRef<string | null>(null);
  /** The tile that `focus` chose last. Earlier choices that are still pending must not take the focus from it. */
  const aim = useRef<string | null>(null);
  /** The tile that gets the focus as soon as it is drawn. */
  const undrawn = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (!place.current) return undefined;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);

  const lines = useMemo(
    () => (width > 0 ? linesOf(shots, width, Math.min(rowHeight, width)) : []),
    [shots, width, rowHeight],
  );
  const rows = useMemo(() => lines.flatMap((line) => ('row' in line ? [line.row] : [])), [lines]);
  const virtualizer = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => heightOf(lines[index]),
    overscan: OVERSCAN,
    scrollMargin: place.current?.offsetTop ?? 0,
    scrollPaddingStart: UNDER_BARS,
    scrollPaddingEnd: UNDER_BARS,
  });
  useEffect(() => virtualizer.measure(), [lines, virtualizer]);
  const visible = virtualizer.getVirtualItems();
  const last = visible.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoading && !error && last >= lines.length - 3) more();
  });

  const lineOf = (shot: Shot) =>
    lines.findIndex((line) => 'row' in line && line.row.items.some(({ item }) => item.output.id === shot.output.id));
  const focus = (shot: Shot | null | undefined) => {
    if (!shot) return;
    setCurrent(shot.output.id);
    virtualizer.scrollToIndex(lineOf(shot), { align: 'auto' });
    const { id } = shot.output;
    aim.current = id;
    // A drawn tile gets the focus at once, so that the next key finds it. Any other tile gets it when it is drawn.
    undrawn.current = tileWith(id) ? null : id;
    tileWith(id)?.focus();
    // The tile gets the focus once more, because a closing dialog gives the focus to another element meanwhile.
    requestAnimationFrame(() => requestAnimationFrame(() => aim.current === id && tileWith(id)?.focus()));
  };
  const tileWith = (id: string) => place.current?.querySelector<HTMLElement>(`[data-file="${id}"]`);
  useEffect(() => {
    const tile = undrawn.current && tileWith(undrawn.current);
    if (!tile) return;
    undrawn.current = null;
    tile.focus();
  });

  const isLaidOut = width > 0;
  useEffect(() => {
    // The tile to go to: the first tile of the chosen day, the tile that the viewer showed last or, after Back, the
    // tile that had the focus.
    const wanted = located?.fileId ?? gallery.focusId;
    const shot = shots.find(({ output }) => output.id === wanted);
    if (!shot || !isLaidOut) return;
    if (located?.as !== 'day') focus(shot);
    setCurrent(shot.output.id);
    const isTile = located === null || located.as === 'tile';
    if (!isTile) virtualizer.scrollToIndex(Math.max(0, lineOf(shot) - 1), { align: 'start' });
    // oxlint-disable-next-line react/exhaustive-deps
  }, [located, gallery.focusId, isLaidOut]);
  const toEnd = () => {
    const known = shots.at(-1);
    focus(known);
    // Reads the rest and then goes to its end, unless another key has moved the focus meanwhile.
    if (hasMore) void gallery.readAll().then((end) => end && aim.current === known?.output.id && setEnd(end));
  };
  useEffect(() => {
    if (!end) return;
    focus(end);
    setEnd(null);
    // oxlint-disable-next-line react/exhaustive-deps
  }, [end]);

  const select = (shot: Shot, range: boolean) => {
    const next = new Set(selected);
    const ids = shots.map(({ output }) => output.id);
    const [from, to] = [ids.indexOf(anchor.current ?? shot.output.id), ids.indexOf(shot.output.id)];
    if (range && from >= 0) for (const id of ids.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(id);
    else if (!next.delete(shot.output.id)) next.add(shot.output.id);
    anchor.current = shot.output.id;
    onSelect(next);
  };
  const page = Math.max(1, Math.floor(innerHeight / (rowHeight + GAP)) - 1);

  function onKeyDown(event: KeyboardEvent) {
    const at = shots.findIndex(({ output }) => output.id === tileOf(event.target));
    const shot = shots[at];
    if (!shot || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => Shot | null | undefined> = {
      ArrowRight: () => shots[at + 1],
      ArrowLeft: () => shots[at - 1],
      ArrowDown: () => neighbour(rows, shot, 1),
      ArrowUp: () => neighbour(rows, shot, -1),
      PageDown: () => neighbour(rows, shot, page),
      PageUp: () => neighbour(rows, shot, -page),
      Home: () => shots[0],
    };
    const acts: Record<string, () => void> = {
      End: toEnd,
      t: () => onTask(shot.taskId, shot.output.index + 1),
      x: () => select(shot, false),
      X: () => select(shot, true),
      ...(onUse && { u: () => isUsablePicture(shot.output) && onUse(shot.output.id) }),
    };
    const move = moves[event.key];
    const act = acts[event.key];
    if (!move && !act) return;
    event.preventDefault();
    if (move) focus(move());
    act?.();
  }

  // When the heading of the day has left the screen, the name of the day stays at the top.
  const top = lines[virtualizer.range?.startIndex ?? 0];
  const dayAbove = top && 'row' in top ? dayName(top.row.items[0]?.item.createdAt ?? 0) : null;
  const inTabOrder = current ?? shots[0]?.output.id;
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- its tiles have the focus
    <div
      ref={place}
      className={styles.grid}
      style={{ height: virtualizer.getTotalSize() }}
      data-selecting={selected.size > 0}
      onKeyDown={onKeyDown}
    >
      {dayAbove && (
        <p className={styles.dayAbove} aria-hidden>
          {dayAbove}
        </p>
      )}
      {visible.map(({ index, start }) => {
        const line = lines[index];
        if (!line) return null;
        const style = { transform: `translateY(${start - virtualizer.options.scrollMargin}px)` };
        return 'day' in line ? (
          <h2 key={line.day} className={styles.day} style={style}>
            {line.day}
          </h2>
        ) : (
          <div
            key={line.row.items[0]?.item.output.id}
            className={styles.row}
            style={{ ...style, height: line.row.height }}
          >
            {line.row.items.map(({ item, width: tileWidth }) => (
              <GalleryTile
                key={item.output.id}
                shot={item}
                width={tileWidth}
                tabIndex={item.output.id === inTabOrder ? 0 : -1}
                onOpen={() => onOpen(item)}
                selected={selected.has(item.output.id)}
                mayKeep={mayKeep}
                onSelect={(range) => select(item, range)}
                onFocus={() => (setCurrent(item.output.id), gallery.onFocus(item.output.id))}
              />
            ))}
          </div>
        );
      })}
    </div>
  );
}

/** The file id of the element's tile. The element may be the tile or lie in it; undefined: neither. */
const tileOf = (target: EventTarget): string | undefined =>
  (target as HTMLElement).closest<HTMLElement>('[data-tile]')?.dataset.tile;

const heightOf = (line: Line | undefined): number => (!line || 'day' in line ? HEADING : line.row.height + GAP);

function dayName(at: number): string {
  const name = day(at);
  return name === day(Date.now() / 1_000) ? 'Today' : name;
}

function linesOf(shots: readonly Shot[], width: number, height: number): Line[] {
  return [...Map.groupBy(shots, ({ createdAt }) => dayName(createdAt))].flatMap(([date, ofDay]): Line[] => [
    { day: date },
    ...justifiedRows(ofDay, { width, height, gap: GAP }).map((row) => ({ row })),
  ]);
}
