import { Download } from 'lucide-react';
import { useState } from 'react';
import { count, money } from '../../format/numbers.ts';
import { clockTime, day, duration } from '../../format/time.ts';
import { useQuery } from '../../live/use-query.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Page } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Stats } from '../../parts/stat.tsx';
import { Table } from '../../parts/table.tsx';
import { Bars } from './bars.tsx';
import { toCsv } from './csv.ts';
import { Usage } from './usage.documents.ts';

const HOUR = 3_600;
const RANGES = {
  '24h': { label: '24 h', seconds: 24 * HOUR, bucket: '1h' },
  '7d': { label: '7 d', seconds: 168 * HOUR, bucket: '1d' },
  '30d': { label: '30 d', seconds: 720 * HOUR, bucket: '1d' },
} as const;
export type Range = keyof typeof RANGES;
export const isRange = (text: string | undefined): text is Range => text !== undefined && text in RANGES;

const HEADINGS = ['model', 'succeeded', 'failed', 'cancelled', 'images', 'film seconds', 'cost'];

/** What the tasks of this key came to. */
export function UsagePage({ range, onRange }: { range: Range; onRange(range: Range): void }) {
  const { seconds, bucket } = RANGES[range];
  // Whole hours, so that the same range asks for the same buckets.
  const [now] = useState(() => Math.floor(Date.now() / 1_000 / HOUR) * HOUR);
  const { data, error, reload } = useQuery(Usage, {
    startTime: now - seconds + HOUR,
    bucketWidth: bucket,
    groupBy: ['model'],
  });
  const usage = data?.usage;
  const bars = (usage?.data ?? []).map(({ startTime, results }) => {
    const sum = (pick: (row: (typeof results)[number]) => number) =>
      results.reduce((total, row) => total + pick(row), 0);
    return {
      label: bucket === '1h' ? clockTime(startTime).slice(0, 5) : day(startTime),
      succeeded: sum((row) => row.succeeded),
      failed: sum((row) => row.failed),
      cancelled: sum((row) => row.cancelled),
    };
  });
  const byModel = [
    ...Map.groupBy(
      (usage?.data ?? []).flatMap(({ results }) => results),
      ({ model }) => model ?? '',
    ),
  ].map(([model, rows]) => {
    const sum = (pick: (row: (typeof rows)[number]) => number) => rows.reduce((total, row) => total + pick(row), 0);
    return [
      model,
      sum((row) => row.succeeded),
      sum((row) => row.failed),
      sum((row) => row.cancelled),
      sum((row) => row.images),
      sum((row) => row.videoSeconds),
      sum((row) => row.costMicros),
    ] as const;
  });
  const currency = usage?.currency ?? 'USD';

  function download() {
    const rows = byModel.map(([model, ...figures]) => [
      model,
      ...figures.slice(0, -1),
      (figures.at(-1) ?? 0) / 1_000_000,
    ]);
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([toCsv([HEADINGS, ...rows])], { type: 'text/csv' }));
    link.download = `darkroom-usage-${range}.csv`;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  return (
    <Page
      title="Usage"
      sub="of this API key"
      actions={
        <>
          <Segments<Range>
            label="Range"
            value={range}
            options={Object.entries(RANGES).map(([value, { label }]) => ({ value: value as Range, label }))}
            onChange={onRange}
          />
          <Button onClick={download} disabled={byModel.length === 0}>
            <Download aria-hidden /> CSV
          </Button>
        </>
      }
    >
      {error && !usage && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {!usage && !error && <Skeleton height={400} />}
      {usage && (
        <>
          <Stats
            stats={[
              {
                label: 'Tasks',
                value: count(usage.totals.tasks),
                note: usage.totals.failed > 0 ? `${count(usage.totals.failed)} failed` : undefined,
              },
              { label: 'Images', value: count(usage.totals.images) },
              { label: 'Film', value: duration(usage.totals.videoSeconds) },
              {
                label: 'Cost',
                value: money(usage.totals.costMicros, currency),
                note:
                  usage.totals.unpricedTasks > 0 ? `${count(usage.totals.unpricedTasks)} without a price` : undefined,
              },
            ]}
          />
          {usage.totals.tasks === 0 ? (
            <EmptyState title="No task in this range" />
          ) : (
            <>
              <Bars bars={bars} />
              <Table
                label="Usage by model"
                columns={HEADINGS.map((label, index) => ({ label, number: index > 0 }))}
                rows={byModel.map(([model, ...figures]) => ({
                  key: model,
                  cells: [model, ...figures.slice(0, -1).map(count), money(figures.at(-1) ?? 0, currency)],
                }))}
              />
            </>
          )}
        </>
      )}
    </Page>
  );
}
