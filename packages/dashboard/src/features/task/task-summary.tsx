import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { money } from '../../format/numbers.ts';
import { day, duration } from '../../format/time.ts';
import { isFinal, type TaskRow } from '../../live/task-store.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Id } from '../../parts/id.tsx';
import { Given } from '../../viewer/given.tsx';
import type { Detail } from './task.documents.ts';
import styles from './task.module.css';
import { Timeline } from './timeline.tsx';

/** The prompt with the chosen settings, the timeline, and further facts of the task. */
export function TaskSummary({ row, detail }: { row: TaskRow; detail: Detail }) {
  const { prompt, ...input } = detail.input as Record<string, unknown>;
  const metadata = Object.entries(detail.metadata as Record<string, string>);
  const { usage } = detail;
  const ranS = isFinal(row) ? ranSOf(row, detail.timeline) : null;
  const children = detail.children.edges.map(({ node }) => node);
  return (
    <div className={styles.summary}>
      <section className={styles.box} aria-label="Prompt">
        <div className={styles.boxHead}>
          <h2>Prompt</h2>
          <CopyButton text={String(prompt ?? '')} label="Copy prompt" small />
        </div>
        <p className={styles.prompt}>
          <bdi>{String(prompt ?? '')}</bdi>
        </p>
        <dl className={styles.facts}>
          <dt>model</dt>
          <dd>{row.model}</dd>
          {Object.entries(input).map(([name, value]) => (
            <FactRow key={name} name={name}>
              <Given value={value} />
            </FactRow>
          ))}
          {detail.approximations?.map(({ param, requested, used }) => (
            <FactRow key={param} name={param}>
              {requested} → {used}, the nearest the provider has
            </FactRow>
          ))}
        </dl>
      </section>
      <section className={styles.box} aria-label="Timeline">
        <h2>Timeline</h2>
        <Timeline row={row} moments={detail.timeline} />
      </section>
      <section className={styles.box} aria-label="Facts">
        <h2>Facts</h2>
        <dl className={styles.facts}>
          {ranS !== null && <FactRow name="ran">{duration(ranS)}</FactRow>}
          {usage && (
            <FactRow name="cost">
              {usage.cost.basis === 'UNPRICED'
                ? 'no price is set'
                : `${money(usage.cost.amountMicros, usage.cost.currency)}${usage.cost.basis === 'ASSUMED' ? ', assumed' : ''}`}
            </FactRow>
          )}
          {usage?.provider && <FactRow name="provider">{usage.provider}</FactRow>}
          <FactRow name="source">{detail.source.toLowerCase()}</FactRow>
          {detail.priority === 'LOW' && <FactRow name="priority">low</FactRow>}
          {row.filesUntil > 0 && <FactRow name="files until">{day(row.filesUntil)}</FactRow>}
          <FactRow name="record until">{detail.expiresAt === null ? 'it is given up' : day(detail.expiresAt)}</FactRow>
          {metadata.map(([name, value]) => (
            <FactRow key={name} name={`metadata.${name}`}>
              <bdi>{value}</bdi>
            </FactRow>
          ))}
          {detail.parentTaskId && (
            <FactRow name={detail.relation?.toLowerCase() ?? 'made from'}>
              <Link to="/tasks/$taskId" params={{ taskId: detail.parentTaskId }}>
                of
              </Link>{' '}
              <Id id={detail.parentTaskId} />
            </FactRow>
          )}
          {children.map(({ taskId, relation }) => (
            <FactRow key={taskId} name={relation?.toLowerCase() ?? 'next'}>
              <Link to="/tasks/$taskId" params={{ taskId }}>
                Task
              </Link>{' '}
              <Id id={taskId} />
            </FactRow>
          ))}
        </dl>
      </section>
    </div>
  );
}

/**
 * Seconds from the first start to the end; null: the task never started. Without a timeline, as for old tasks, only the
 * whole seconds are known.
 */
function ranSOf({ startedAt, completedAt }: TaskRow, timeline: Detail['timeline']): number | null {
  if (startedAt === 0) return null;
  const started = timeline.find(({ type }) => type === 'STARTED')?.atMs;
  const ended = timeline.at(-1)?.atMs;
  return started && ended ? (ended - started) / 1_000 : completedAt - startedAt;
}

function FactRow({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}
