import { count, money } from '../../format/numbers.ts';
import { Chart } from '../../parts/chart.tsx';
import stat from '../../parts/stat.module.css';
import { bucketSums, type By, costSeries } from './usage-rows.ts';
import type { UsagePages } from './usage.documents.ts';

const OUTCOMES = [
  { name: 'succeeded', tone: '--succeeded' },
  { name: 'failed', tone: '--failed' },
  { name: 'cancelled', tone: '--control' },
] as const;
const TONES = ['--info', '--running', '--succeeded', '--accent', '--queued'];

interface Props {
  usage: UsagePages;
  by: By;
  labelOf(at: number): string;
  nameOf(id: string): string;
}

/** Charts over time: tasks by outcome, and cost by group. The view Table shows the sums of each bucket as numbers. */
export function UsageCharts({ usage: { data, currency }, by, labelOf, nameOf }: Props) {
  const costs = costSeries(data, by);
  const named = costs.ids.map((id, nth) => ({ name: nameOf(id), tone: TONES[nth] ?? '--control' }));
  const others = { name: named.length > 0 ? 'others' : 'cost', tone: '--control' };
  return (
    <div className={stat.pair}>
      <Chart
        whole
        title="Tasks"
        series={OUTCOMES}
        columns={bucketSums(data).map((sum) => ({
          label: labelOf(sum.startTime),
          values: OUTCOMES.map(({ name }) => sum[name]),
        }))}
        format={count}
      />
      <Chart
        title="Cost"
        series={costs.hasOthers || named.length === 0 ? [...named, others] : named}
        columns={data.map(({ startTime }, nth) => ({ label: labelOf(startTime), values: costs.values[nth] ?? [] }))}
        format={(micros) => money(micros, currency)}
      />
    </div>
  );
}
