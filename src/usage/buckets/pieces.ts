import { DAY_S } from '../../platform/schema/time.ts';
import { QUARTER_S } from './zone.ts';

/** A range of time in a bucket. Unix seconds; `until` is exclusive. */
export interface Range {
  bucket: number;
  since: number;
  until: number;
}

/** A range of stored sums. Ranges of weight -1 are subtracted. */
export interface Piece extends Range {
  weight: 1 | -1;
}

/**
 * The stored rows from which the numbers of buckets are added up: sums of whole days and of quarters of an hour, and
 * single rows of the ledger for the ends of a bucket. Rows of the ledger that no sum contains yet are added as well.
 */
export interface Pieces {
  days: Piece[];
  quarters: Piece[];
  /** Ranges that contain no whole quarter. */
  edges: Range[];
}

/**
 * Divides buckets into ranges for which there are sums, and the rest.
 * @param byDay false for groups by metadata, which have no sums of days
 */
export function piecesOf(buckets: readonly Range[], byDay: boolean): Pieces {
  const pieces: Pieces = { days: [], quarters: [], edges: [] };
  for (const { bucket, since, until } of buckets) {
    const firstQuarter = Math.ceil(since / QUARTER_S) * QUARTER_S;
    const lastQuarter = Math.floor(until / QUARTER_S) * QUARTER_S;
    if (firstQuarter >= lastQuarter) {
      pieces.edges.push({ bucket, since, until });
      continue;
    }
    if (since < firstQuarter) pieces.edges.push({ bucket, since, until: firstQuarter });
    if (lastQuarter < until) pieces.edges.push({ bucket, since: lastQuarter, until });
    if (byDay) addDays(pieces, bucket, firstQuarter, lastQuarter);
    else pieces.quarters.push({ bucket, since: firstQuarter, until: lastQuarter, weight: 1 });
  }
  return pieces;
}

/**
 * Divides a range of whole quarters. Takes the sums of the nearest UTC days, and adds or subtracts the quarters in
 * between. So a day in Berlin is one UTC day and a few quarters at each end. Takes only quarters if days would not save
 * any.
 */
function addDays({ days, quarters }: Pieces, bucket: number, since: number, until: number): void {
  const firstDay = Math.round(since / DAY_S) * DAY_S;
  const lastDay = Math.round(until / DAY_S) * DAY_S;
  if (firstDay >= lastDay || Math.abs(firstDay - since) + Math.abs(lastDay - until) >= until - since) {
    quarters.push({ bucket, since, until, weight: 1 });
    return;
  }
  days.push({ bucket, since: firstDay, until: lastDay, weight: 1 });
  if (since < firstDay) quarters.push({ bucket, since, until: firstDay, weight: 1 });
  if (firstDay < since) quarters.push({ bucket, since: firstDay, until: since, weight: -1 });
  if (lastDay < until) quarters.push({ bucket, since: lastDay, until, weight: 1 });
  if (until < lastDay) quarters.push({ bucket, since: until, until: lastDay, weight: -1 });
}
