import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type MouseEvent, useEffect, useRef } from 'react';
import { useShortcuts } from '../../keys/shortcuts.ts';
import { Button } from '../../parts/button.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { TaskLine } from './task-line.tsx';
import styles from './tasks.module.css';
import type { TaskList } from './use-task-list.ts';

/** How many rows are drawn beyond each edge of the screen. */
const OVERSCAN = 2;
const NEAR_END = 10;

interface Props {
  list: TaskList;
  selected: ReadonlySet<string>;
  selectable: boolean;
  /** The filter of the list, as JSON. */
  filter: string;
  /** The id of the task that is open beside the list; null: none. */
  peek: string | null;
  onSelect(selected: ReadonlySet<string>): void;
  onPeek(taskId: string | null, replace: boolean): void;
}

const rowHeight = (): number =>
  Number.parseInt(getComputedStyle(document.documentElement).getPropertyValue('--row-height'), 10) || 56;

/** The index of the row that contains the element; -1 for any other element. */
const rowOf = (element: Element | null): number =>
  Number(element?.closest<HTMLElement>('[data-index]')?.dataset.index ?? -1);

/** A virtual list: only the rows on or near the screen are in the page. */
export function TaskTable({ list, selected, selectable, filter, peek, onSelect, onPeek }: Props) {
  const { ids, hasMore, isLoading, error, more } = list;
  const place = useRef<HTMLDivElement>(null);
  const anchor = useRef<string | null>(null);
  const returnTo = useRef(list.focusId);
  const height = useRef(rowHeight());
  const virtualizer = useWindowVirtualizer({
    count: ids.length,
    estimateSize: () => height.current,
    overscan: OVERSCAN,
    scrollMargin: place.current?.offsetTop ?? 0,
    getItemKey: (index) => ids[index] ?? index,
  });
  useEffect(() => {
    // On a narrow screen rows are higher.
    const measure = () => {
      height.current = rowHeight();
      virtualizer.measure();
    };
    addEventListener('resize', measure);
    return () => removeEventListener('resize', measure);
  }, [virtualizer]);
  const rows = virtualizer.getVirtualItems();
  const last = rows.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && !isLoading && !error && last >= ids.length - NEAR_END) more();
  });

  const focusRow = (index: number) => {
    virtualizer.scrollToIndex(index, { align: 'auto' });
    requestAnimationFrame(() => place.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus());
  };
  const focused = () => rowOf(document.activeElement);
  const step = (by: number) => {
    const from = focused() >= 0 ? focused() : peek ? ids.indexOf(peek) : -1;
    const index = Math.min(ids.length - 1, Math.max(0, from + by));
    focusRow(index);
    if (peek && ids[index]) onPeek(ids[index], true);
  };
  // After Back the row that had the focus gets it again, as soon as scrolling has brought the row into the page.
  useEffect(() => {
    if (!returnTo.current) return;
    const link = place.current?.querySelector<HTMLElement>(`[data-index="${ids.indexOf(returnTo.current)}"] a`);
    if (!link) return;
    link.focus({ preventScroll: true });
    returnTo.current = null;
  });
  const toggle = (id: string, range: boolean) => {
    const next = new Set(selected);
    const [from, to] = [ids.indexOf(anchor.current ?? id), ids.indexOf(id)];
    if (range && from >= 0) for (const each of ids.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(each);
    else if (!next.delete(id)) next.add(id);
    anchor.current = id;
    onSelect(next);
  };
  useShortcuts({
    j: () => step(1),
    k: () => step(-1),
    ...(peek && { escape: () => onPeek(null, false) }),
    ...(selectable && {
      x: () => ids[focused()] && toggle(ids[focused()] as string, false),
      X: () => ids[focused()] && toggle(ids[focused()] as string, true),
    }),
  });
  const onClick = (event: MouseEvent) => {
    const id = ids[rowOf(event.target as HTMLElement)];
    if (id && (event.target as HTMLElement).tagName === 'INPUT') toggle(id, event.shiftKey);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const id = ids[focused()];
    if (event.key === ' ' && id && (event.target as HTMLElement).tagName === 'A') {
      event.preventDefault();
      return onPeek(peek === id ? null : id, peek !== null && peek !== id);
    }
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    step(by);
  };

  if (ids.length === 0) {
    return (
      <div className={styles.table} aria-busy>
        {Array.from({ length: 8 }, (_, index) => (
          <Skeleton key={index} height={rowHeight() - 1} />
        ))}
      </div>
    );
  }
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/interactive-supports-focus -- its rows have the focus */}
      <div
        ref={place}
        className={styles.table}
        role="grid"
        aria-label="Tasks"
        aria-rowcount={hasMore ? -1 : ids.length}
        data-selectable={selectable}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onFocus={() => ids[focused()] && list.onFocus(ids[focused()] as string)}
        style={{ height: virtualizer.getTotalSize() }}
      >
        {rows.map(({ index, key, start }) => {
          const id = ids[index];
          return (
            id && (
              <div
                key={key}
                className={styles.row}
                role="row"
                aria-rowindex={index + 1}
                data-index={index}
                data-peek={peek === id}
                data-selected={selected.has(id)}
                style={{ transform: `translateY(${start - virtualizer.options.scrollMargin}px)` }}
              >
                <TaskLine taskId={id} selected={selected.has(id)} selectable={selectable} filter={filter} />
              </div>
            )
          );
        })}
      </div>
      {error && (
        <p className={styles.end}>
          {error.message} <Button onClick={more}>Retry</Button>
        </p>
      )}
      {isLoading && <p className={styles.end}>Loading…</p>}
    </>
  );
}
