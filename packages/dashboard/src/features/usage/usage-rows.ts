import type { UsagePages } from './usage.documents.ts';

export const GROUPS = { model: 'model', error: 'error_code', key: 'api_key_id' } as const;
export type By = keyof typeof GROUPS;
export const isBy = (text: string | undefined): text is By => text !== undefined && text in GROUPS;

type Bucket = UsagePages['data'][number];
type Result = Bucket['results'][number];

export const FIGURES = ['succeeded', 'failed', 'cancelled', 'images', 'videoSeconds', 'costMicros'] as const;
type Figures = Record<(typeof FIGURES)[number], number>;

export interface UsageRow extends Figures {
  /** The id of the model or key, or the error code. */
  id: string;
}

const idOf = (result: Result, by: By): string | null =>
  by === 'model' ? result.model : by === 'error' ? result.errorCode : result.apiKeyId;

const sumOf = (results: readonly Result[]): Figures =>
  Object.fromEntries(
    FIGURES.map((name) => [name, results.reduce((total, result) => total + result[name], 0)]),
  ) as Figures;

/** For each bucket, the sums over all its groups. */
export const bucketSums = (data: readonly Bucket[]): (Figures & { startTime: number })[] =>
  data.map(({ startTime, results }) => ({ startTime, ...sumOf(results) }));

/**
 * The sums of each group over all buckets, the largest group first. Tasks that did not fail have no error, so grouping
 * by error leaves them out.
 */
export function rowsBy(data: readonly Bucket[], by: By): UsageRow[] {
  const groups = Map.groupBy(
    data.flatMap(({ results }) => results).filter((result) => idOf(result, by) !== null),
    (result) => idOf(result, by) ?? '',
  );
  const size = ({ succeeded, failed, cancelled }: UsageRow) => succeeded + failed + cancelled;
  return [...groups].map(([id, results]) => ({ id, ...sumOf(results) })).sort((a, b) => size(b) - size(a));
}

const MICROS = 1_000_000;

/** One line for each bucket and group, so that a spreadsheet can sum them up. Times are ISO 8601 in UTC. */
export function csvRows(
  data: readonly Bucket[],
  by: By,
  { currency, nameOf }: { currency: string; nameOf(id: string): string },
): (string | number)[][] {
  const heading = ['from', by, 'succeeded', 'failed', 'cancelled', 'images', 'video_seconds', `cost_${currency}`];
  const lines = data.flatMap(({ startTime, results }) =>
    results.map((result) => [
      new Date(startTime * 1_000).toISOString(),
      nameOf(idOf(result, by) ?? ''),
      result.succeeded,
      result.failed,
      result.cancelled,
      result.images,
      result.videoSeconds,
      result.costMicros / MICROS,
    ]),
  );
  return [heading, ...lines];
}

/** At most this many groups get a colour of their own. */
const MOST_SERIES = 5;

/**
 * The cost of each bucket by group, in the order of `ids`: the groups that cost most, then one value for all others.
 * Buckets are in order of time.
 */
export function costSeries(data: readonly Bucket[], by: By): { ids: string[]; hasOthers: boolean; values: number[][] } {
  const ranked = rowsBy(data, by)
    .filter(({ costMicros }) => costMicros > 0)
    .toSorted((a, b) => b.costMicros - a.costMicros);
  const ids = ranked.slice(0, MOST_SERIES).map(({ id }) => id);
  const values = data.map(({ results }) => {
    const costs = ids.map((id) => sumOf(results.filter((result) => idOf(result, by) === id)).costMicros);
    const named = costs.reduce((total, cost) => total + cost, 0);
    return [...costs, sumOf(results).costMicros - named];
  });
  return { ids, hasOthers: values.some((costs) => (costs.at(-1) ?? 0) > 0), values };
}
