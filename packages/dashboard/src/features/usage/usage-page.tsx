import { Download } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { nowS, onTick } from '../../format/clock.ts';
import { count, sumWords } from '../../format/numbers.ts';
import { clockTime, day, duration, zoneName } from '../../format/time.ts';
import { usePages } from '../../live/use-pages.ts';
import { useQuery } from '../../live/use-query.ts';
import { Button } from '../../parts/button.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Forbidden } from '../../parts/forbidden.tsx';
import { Page } from '../../parts/page.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import stat from '../../parts/stat.module.css';
import { Stats } from '../../parts/stat.tsx';
import { Budgets } from './budgets.tsx';
import { toCsv } from './csv.ts';
import { saveFile } from './save-file.ts';
import { bucketSums, type By, csvRows, GROUPS, rowsBy } from './usage-rows.ts';
import { UsageCharts } from './usage-charts.tsx';
import { BY_LABELS, ErrorsTable, FiguresTable } from './usage-tables.tsx';
import { Usage, UsageKeys } from './usage.documents.ts';

const HOUR = 3_600;
const MINUTE_MS = 60_000;
const RANGES = {
  '24h': { label: '24 h', seconds: 24 * HOUR, bucket: '1h' },
  '7d': { label: '7 d', seconds: 168 * HOUR, bucket: '1d' },
  '30d': { label: '30 d', seconds: 720 * HOUR, bucket: '1d' },
} as const;
export type Range = keyof typeof RANGES;
export const isRange = (text: string | undefined): text is Range => text !== undefined && text in RANGES;
export type View = 'chart' | 'table';

const optionsOf = <Name extends string>(labels: Record<Name, string>) =>
  (Object.entries(labels) as [Name, string][]).map(([value, label]) => ({ value, label }));
const RANGE_LABELS = Object.fromEntries(Object.entries(RANGES).map(([name, { label }]) => [name, label]));
const VIEW_LABELS: Record<View, string> = { chart: 'Chart', table: 'Table' };

export interface UsageChoice {
  range: Range;
  by: By;
  view: View;
}

interface Props {
  choice: UsageChoice;
  ownId: string;
  /** Whether the key may see the usage of all keys. */
  maySeeAll: boolean;
  onChoice(choice: UsageChoice): void;
}

/** The usage and cost of tasks, of this key or of all keys. */
export function UsagePage({ choice, ownId, maySeeAll, onChoice }: Props) {
  const { range, by, view } = choice;
  const isRefused = by === 'key' && !maySeeAll;
  return (
    <Page
      title="Usage"
      sub={by === 'key' ? 'of all API keys' : 'of this API key'}
      actions={
        <>
          <Segments<Range>
            label="Range"
            value={range}
            options={optionsOf(RANGE_LABELS as Record<Range, string>)}
            onChange={(next) => onChoice({ ...choice, range: next })}
          />
          <Segments<By>
            label="Group by"
            value={by}
            options={optionsOf(BY_LABELS)}
            onChange={(next) => onChoice({ ...choice, by: next })}
          />
          <Segments<View>
            label="View"
            value={view}
            options={optionsOf(VIEW_LABELS)}
            onChange={(next) => onChoice({ ...choice, view: next })}
          />
        </>
      }
    >
      {isRefused ? (
        <Forbidden scope="keys:manage" what="see the usage of all keys" />
      ) : (
        <UsageOf {...choice} ownId={maySeeAll ? ownId : null} />
      )}
    </Page>
  );
}

/** @param ownId null: the key may not see the budgets of keys */
function UsageOf({ range, by, view, ownId }: UsageChoice & { ownId: string | null }) {
  const { seconds, bucket } = RANGES[range];
  // In whole hours, so that all reads within an hour are for the same buckets.
  const now = useSyncExternalStore(onTick, () => Math.floor(nowS() / HOUR) * HOUR);
  const startTime = now - seconds + HOUR;
  const question = {
    startTime,
    bucketWidth: bucket,
    groupBy: [GROUPS[by]],
    apiKeyId: by === 'key' ? 'all' : null,
    timezone: zoneName(),
  };
  const { data, error, reload } = useQuery(Usage, question, { everyMs: MINUTE_MS });
  const asked = ownId === null ? null : {};
  const { data: page, pager } = usePages(UsageKeys, by === 'key' ? asked : null, ({ apiKeys }) => apiKeys.pageInfo);
  // Without `onNewer`, `page` is already the newest page.
  const { data: newest } = useQuery(UsageKeys, by === 'key' && !pager.onNewer ? null : asked);
  const usage = data?.usage;
  if (!usage || error)
    return error ? <ErrorPanel error={error} onRetry={() => void reload()} /> : <Skeleton height={400} />;

  const { currency, totals } = usage;
  const keysOf = (read: typeof newest) => read?.apiKeys.edges.map(({ node }) => node) ?? [];
  const names = new Map([...keysOf(newest), ...keysOf(page)].map(({ id, name }) => [id, name]));
  const shown = by === 'key' ? keysOf(page) : keysOf(newest).filter(({ id }) => id === ownId);
  const budgeted = shown.filter(({ limits }) => limits.budget);
  const nameOf = (id: string) => names.get(id) ?? id;
  const labelOf = (at: number) => (bucket === '1h' ? clockTime(at).slice(0, 5) : day(at));
  const sums = bucketSums(usage.data);
  const rows = rowsBy(usage.data, by);
  const download = () =>
    saveFile(`darkroom-usage-${range}-by-${by}.csv`, toCsv(csvRows(usage.data, by, { currency, nameOf })), 'text/csv');
  return (
    <>
      <Stats
        stats={[
          {
            label: 'Tasks',
            value: count(totals.tasks),
            note: totals.failed > 0 ? `${count(totals.failed)} failed` : undefined,
          },
          { label: 'Images', value: count(totals.images) },
          { label: 'Film', value: totals.videoSeconds > 0 ? duration(totals.videoSeconds) : '0 s' },
          {
            label: 'Cost',
            value: sumWords(totals, currency),
            note: totals.unpricedTasks > 0 ? `${count(totals.unpricedTasks)} without a price` : undefined,
          },
        ]}
      />
      <Budgets keys={budgeted} currency={currency} pager={by === 'key' ? pager : null} />
      {totals.tasks === 0 ? (
        <EmptyState title="No task in this range" />
      ) : (
        <>
          {view === 'chart' ? (
            <UsageCharts usage={usage} by={by} labelOf={labelOf} nameOf={nameOf} />
          ) : (
            <FiguresTable
              label="Usage over time"
              first={bucket === '1h' ? 'hour' : 'day'}
              rows={sums.map(({ startTime: at, ...figures }) => ({ key: String(at), name: labelOf(at), ...figures }))}
              currency={currency}
            />
          )}
          <section className={stat.section} aria-label={`By ${BY_LABELS[by].toLowerCase()}`}>
            <div className={stat.row}>
              <h2>By {BY_LABELS[by].toLowerCase()}</h2>
              <Button onClick={download}>
                <Download aria-hidden /> CSV
              </Button>
            </div>
            {by === 'error' ? (
              <ErrorsTable rows={rows} from={startTime} />
            ) : (
              <FiguresTable
                label={`Usage by ${by}`}
                first={by}
                rows={rows.map(({ id, ...figures }) => ({ key: id, name: <bdi>{nameOf(id)}</bdi>, ...figures }))}
                currency={currency}
              />
            )}
          </section>
        </>
      )}
    </>
  );
}
