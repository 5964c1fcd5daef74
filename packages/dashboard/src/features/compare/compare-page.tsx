import { Play, SquareSplitHorizontal } from 'lucide-react';
import { type CSSProperties, type KeyboardEvent, lazy, Suspense, useRef } from 'react';
import { part } from '../../api/late-part.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { usePlacement } from '../../viewer/use-placement.ts';
import { ZoomBar } from '../../viewer/zoom-bar.tsx';
import { type Chosen, chosenOf, outputId } from './chosen.ts';
import { ComparePane } from './compare-pane.tsx';
import { ComparedInputs } from './compared-inputs.tsx';
import styles from './compare.module.css';
import { useCompared } from './use-compared.ts';

const CompareViewer = lazy(
  part(() => import('./compare-viewer.tsx').then(({ CompareViewer: it }) => ({ default: it }))),
);

interface Props {
  /** `view`: the number of the output that is open in full screen, from 1. */
  search: { outputs?: string; tasks?: string; view?: string };
  mayKeep: boolean;
  onOutputs(outputs: string): void;
  onView(number: number | null): void;
  onTask(taskId: string, output: number): void;
  onTasks(): void;
}

/** Two to four outputs side by side, with a table of their inputs. Pictures are zoomed together. */
export function ComparePage({ search, mayKeep, onOutputs, onView, onTask, onTasks }: Props) {
  const chosen = chosenOf(search);
  const panes = useRef<HTMLDivElement>(null);
  const { tasks, error, reload } = useCompared(chosen.map(({ taskId }) => taskId));
  const zoom = usePlacement(panes);
  const known = chosen.flatMap(({ taskId }) => tasks.get(taskId) ?? []);
  const inputs = known.map(({ model, input }): Record<string, unknown> => ({ model, ...(input as object) }));
  const films = known.filter(({ kind }) => kind === 'VIDEO').length;

  if (chosen.length < 2) {
    return (
      <Page title="Compare">
        <EmptyState
          icon={<SquareSplitHorizontal size={28} aria-hidden />}
          title="Choose two to four outputs"
          action={
            <Button variant="primary" onClick={onTasks}>
              Tasks
            </Button>
          }
        >
          Select them in the list of tasks or in the gallery, then press Compare.
        </EmptyState>
      </Page>
    );
  }
  if (error && known.length === 0) {
    return (
      <Page title="Compare">
        <ErrorPanel error={error} onRetry={reload} />
      </Page>
    );
  }
  const change = (next: readonly Chosen[]) => onOutputs(next.map(outputId).join(','));
  const replay = () => {
    for (const film of panes.current?.querySelectorAll<HTMLVideoElement>('video[data-compared]') ?? []) {
      film.currentTime = 0;
      void film.play().catch(() => undefined);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if ((event.target as HTMLElement).tagName !== 'VIDEO' && zoom.arrow(event.key)) event.preventDefault();
  };
  return (
    <Page
      title="Compare"
      sub={`${chosen.length} outputs`}
      actions={
        <>
          {films > 0 && (
            <Button onClick={replay}>
              <Play aria-hidden /> Play together
            </Button>
          )}
          {films < chosen.length && (
            <div className={styles.tools} role="toolbar" aria-label="Zoom of all">
              <ZoomBar zoom={zoom} />
            </div>
          )}
        </>
      }
    >
      {/* oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- buttons of the toolbar do the same */}
      <div
        ref={panes}
        className={styles.panes}
        style={{ '--panes': chosen.length } as CSSProperties}
        onKeyDown={onKeyDown}
      >
        {chosen.map((each, at) => (
          <ComparePane
            key={`${at}-${each.taskId}`}
            chosen={each}
            number={at + 1}
            zoom={zoom}
            onStep={(index) => change(chosen.map((old, place) => (place === at ? { ...old, index } : old)))}
            onFull={() => onView(at + 1)}
            onRemove={chosen.length > 2 ? () => change(chosen.filter((_, place) => place !== at)) : null}
          />
        ))}
      </div>
      {known.length === chosen.length && <ComparedInputs chosen={chosen} inputs={inputs} />}
      {search.view !== undefined && (
        <Suspense>
          <CompareViewer
            chosen={chosen}
            number={Number(search.view)}
            mayKeep={mayKeep}
            onNumber={onView}
            onTask={onTask}
          />
        </Suspense>
      )}
    </Page>
  );
}
