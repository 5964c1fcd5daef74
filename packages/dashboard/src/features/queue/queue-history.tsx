import { clockTime } from '../../format/time.ts';
import { count } from '../../format/numbers.ts';
import { useQuery } from '../../live/use-query.ts';
import { Chart, type ChartColumn } from '../../parts/chart.tsx';
import { ErrorPanel } from '../../parts/error-panel.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import styles from '../../parts/stat.module.css';
import { QueueHistory as Document, type QueueMinute } from './queue.documents.ts';

const MINUTE_MS = 60_000;

/** The last hour, minute by minute. A minute without a running worker is shown as unknown. */
export function QueueHistory() {
  const { data, error, reload } = useQuery(Document, {}, { everyMs: MINUTE_MS });
  if (!data && !error) return <Skeleton height={150} />;
  return (
    <section className={styles.section}>
      <h2>Last 60 minutes</h2>
      {error && <ErrorPanel error={error} onRetry={() => void reload()} />}
      {data && <Charts minutes={data.operations.queueHistory} />}
    </section>
  );
}

const Charts = ({ minutes }: { minutes: readonly QueueMinute[] }) => (
  <div className={styles.pair}>
    <Chart
      small
      whole
      title="Queued"
      series={[
        { name: 'waiting', tone: '--queued' },
        { name: 'at the limit of their key', tone: '--info' },
      ]}
      columns={columnsOf(minutes, ({ waiting, parked }) => [waiting ?? 0, parked ?? 0])}
      format={count}
    />
    <Chart
      small
      whole
      title="Running"
      series={[{ name: 'running', tone: '--running' }]}
      columns={columnsOf(minutes, ({ running }) => [running ?? 0])}
      format={count}
    />
  </div>
);

const columnsOf = (minutes: readonly QueueMinute[], pick: (minute: QueueMinute) => number[]): ChartColumn[] =>
  minutes.map((each) => ({
    label: clockTime(each.minute).slice(0, 5),
    values: each.running === null ? null : pick(each),
  }));
