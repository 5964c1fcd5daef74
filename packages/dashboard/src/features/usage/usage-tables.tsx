import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { count, money } from '../../format/numbers.ts';
import { duration } from '../../format/time.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Table } from '../../parts/table.tsx';
import { type By, FIGURES, type UsageRow } from './usage-rows.ts';

const HEADINGS = ['succeeded', 'failed', 'cancelled', 'images', 'film', 'cost'];

type Figures = Omit<UsageRow, 'id'>;

interface Props {
  label: string;
  /** The heading of the first column. */
  first: string;
  rows: readonly (Figures & { key: string; name: ReactNode })[];
  currency: string;
}

/** A table of figures by time, model or key. */
export function FiguresTable({ label, first, rows, currency }: Props) {
  return (
    <Table
      label={label}
      columns={[{ label: first }, ...HEADINGS.map((heading) => ({ label: heading, number: true }))]}
      rows={rows.map(({ key, name, ...figures }) => ({
        key,
        cells: [name, ...FIGURES.map((figure) => shown(figure, figures[figure], currency))],
      }))}
    />
  );
}

/** A cost of 0 is a dash, because nothing was charged or nothing has a price. Film of 0 seconds is a dash too. */
function shown(figure: (typeof FIGURES)[number], value: number, currency: string): string {
  if (figure !== 'costMicros' && figure !== 'videoSeconds') return count(value);
  if (value === 0) return '–';
  return figure === 'costMicros' ? money(value, currency) : duration(value);
}

/** Failed tasks by error code. Each row links to its tasks. */
export function ErrorsTable({ rows, from }: { rows: readonly UsageRow[]; from: number }) {
  if (rows.length === 0) return <EmptyState title="No task failed in this range" />;
  const all = rows.reduce((total, { failed }) => total + failed, 0);
  return (
    <Table
      label="Failures by error"
      columns={[
        { label: 'error' },
        { label: 'failed', number: true },
        { label: 'share', number: true },
        { label: 'Tasks', hidden: true },
      ]}
      rows={rows.map(({ id, failed }) => ({
        key: id,
        cells: [
          <code key="code">{id}</code>,
          count(failed),
          `${Math.round((failed / all) * 100)} %`,
          <Link key="tasks" to="/tasks" search={{ status: 'failed', error: id, from: String(from) }}>
            Show the tasks
          </Link>,
        ],
      }))}
    />
  );
}

export const BY_LABELS: Record<By, string> = { model: 'Model', error: 'Error', key: 'Key' };
