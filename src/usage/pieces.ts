import { DAY_S } from '../platform/time.ts';
import { QUARTER_S } from './zone.ts';

/** A bucket to be summed. Unix seconds; `until` is exclusive. */
export interface Range {
  bucket: number;
  since: number;
  until: number;
}

/** Where the numbers of some buckets are found: sums of whole days and quarters, and rows of the ledger at the ends. */
export interface Pieces {
  days: Range[];
  quarters: Range[];
  /** Parts of a quarter. */
  edges: Range[];
}

/** @param byDay false: uses no sums of days, because there are none for groups by metadata */
export function piecesOf(buckets: readonly Range[], byDay: boolean): Pieces {
  const pieces: Pieces = { days: [], quarters: [], edges: [] };
  for (const { bucket, since, until } of buckets) {
    const add = (list: Range[], from: number, to: number): void => {
      if (from < to) list.push({ bucket, since: from, until: to });
    };
    const [firstQuarter, lastQuarter] = inner(since, until, QUARTER_S);
    add(pieces.edges, since, firstQuarter);
    add(pieces.edges, lastQuarter, until);
    const [firstDay, lastDay] = byDay ? inner(firstQuarter, lastQuarter, DAY_S) : [lastQuarter, lastQuarter];
    add(pieces.quarters, firstQuarter, firstDay);
    add(pieces.days, firstDay, lastDay);
    add(pieces.quarters, lastDay, lastQuarter);
  }
  return pieces;
}

/** The whole units within the range. Without any, an empty range at its end. */
function inner(since: number, until: number, unit: number): [number, number] {
  const first = Math.ceil(since / unit) * unit;
  const last = Math.floor(until / unit) * unit;
  return first < last ? [first, last] : [until, until];
}
