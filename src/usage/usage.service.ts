import { Injectable } from '@nestjs/common';
import { ApiError } from '../errors/api-error.ts';
import { UsageTerms } from '../tasks/record/usage-terms.ts';
import type { BucketWidth } from './buckets/bucket-width.ts';
import { type Grouping, groupingOf } from './grouping.ts';
import { piecesOf, type Range } from './buckets/pieces.ts';
import { ReadUsage, type UsageEntry, type UsageNumbers } from './sql/read-usage.ts';
import { NUMBER_NAMES } from './sql/sum-columns.ts';
import { DEFAULT_BUCKETS, type UsageQuery } from './usage.query.ts';
import type { UsagePageView, UsageResultView } from './usage.view.ts';
import { QUARTER_S, Zone } from './buckets/zone.ts';

/** The most results of one page. A group by metadata may have as many results as there are tasks. */
const MAX_RESULTS = 10_000;

interface Window {
  since: number;
  until: number;
  now: number;
}

@Injectable()
export class UsageService {
  constructor(
    private readonly sums: ReadUsage,
    private readonly terms: UsageTerms,
  ) {}

  /**
   * @param apiKeyId the key of the caller, whose usage is read if the query names no key
   * @throws ApiError invalid_value, too_many_items, service_unavailable
   */
  async page(apiKeyId: string, query: UsageQuery): Promise<UsagePageView> {
    const zone = zoneOf(query.timezone ?? 'UTC');
    const window = windowOf(query);
    const grouping = groupingOf(query.group_by, this.terms);
    const buckets = bucketsOf(window, pageStart(query, window), zone, query);
    const next = buckets.at(-1)!.until;
    const of = query.api_key_id === 'all' ? null : (query.api_key_id ?? apiKeyId);

    const entries = await this.read(of, grouping, buckets, window);
    const isWhole = buckets[0]!.since === window.since && next === window.until;
    const totals = isWhole
      ? entries
      : await this.read(of, groupingOf(undefined, this.terms), [{ bucket: 0, ...window }], window);
    const results = Map.groupBy(entries, ({ bucket }) => bucket);
    return {
      object: 'page',
      currency: this.terms.currency,
      as_of: window.now,
      data: buckets.map(({ bucket, since, until }) => ({
        object: 'bucket',
        start_time: since,
        end_time: until,
        results: (results.get(bucket) ?? []).map((entry) => toResult(entry, grouping)),
      })),
      totals: totalsOf(totals),
      has_more: next < window.until,
      next_page: next < window.until ? `page_${next}` : null,
    };
  }

  private async read(
    apiKeyId: string | null,
    { groups, metadataKey }: Grouping,
    buckets: readonly Range[],
    window: Window,
  ): Promise<UsageEntry[]> {
    const ranges = buckets.map((range) => ({ ...range, until: untilNow(range.until, window) }));
    const pieces = piecesOf(ranges, metadataKey === null);
    const request = { apiKeyId, groups, metadataKey, buckets: ranges, pieces, limit: MAX_RESULTS + 1 };
    const entries = await this.sums.read(request);
    if (entries.length <= MAX_RESULTS) return entries;
    const message = `The page has more than ${MAX_RESULTS} results. Ask for fewer buckets or groups.`;
    throw new ApiError('too_many_items', { param: 'group_by', message });
  }
}

/**
 * The end up to which a range is read. If the request reaches until now, this is the end of the present quarter of an
 * hour: the sum of this quarter can then be used, because no task has ended later than now.
 */
function untilNow(until: number, { until: end, now }: Window): number {
  return until === end && end >= now ? Math.ceil((until + 1) / QUARTER_S) * QUARTER_S : until;
}

function zoneOf(name: string): Zone {
  try {
    return new Zone(name);
  } catch {
    const message = `timezone must be an IANA name such as Europe/Berlin or UTC, not "${name}".`;
    throw new ApiError('invalid_value', { param: 'timezone', message });
  }
}

function windowOf({ start_time: since, end_time }: UsageQuery): Window {
  const now = Math.floor(Date.now() / 1000);
  const until = end_time ?? Math.max(now, since + 1);
  if (until > since) return { since, until, now };
  const message = `end_time must be later than start_time, which is ${since}; it is ${until}.`;
  throw new ApiError('invalid_value', { param: 'end_time', message });
}

function pageStart({ page }: UsageQuery, { since, until }: Window): number {
  if (page === undefined) return since;
  const at = Number(page.slice('page_'.length));
  if (at > since && at < until) return at;
  throw new ApiError('invalid_value', { param: 'page', message: 'page is not a page of this range.' });
}

/**
 * The buckets of one page. They begin and end with the hours, days or months of the zone, and at the ends of the range.
 */
function bucketsOf({ until: end }: Window, start: number, zone: Zone, query: UsageQuery): Range[] {
  const width: BucketWidth = query.bucket_width ?? '1d';
  const buckets: Range[] = [];
  for (let since = start; since < end && buckets.length < (query.limit ?? DEFAULT_BUCKETS);) {
    const until = width === 'all' ? end : Math.min(zone.nextCut(since, width), end);
    buckets.push({ bucket: buckets.length, since, until });
    since = until;
  }
  return buckets;
}

function toResult(entry: UsageEntry, { groups, metadataField }: Grouping): UsageResultView {
  const group = (name: (typeof groups)[number]) => (groups.includes(name) ? entry[name] : null);
  return {
    object: 'usage.result',
    model: group('model'),
    kind: group('kind'),
    provider: group('provider'),
    resolution: group('resolution'),
    source: group('source'),
    batch_id: group('batch_id'),
    error_code: group('error_code'),
    api_key_id: group('api_key_id'),
    ...(metadataField !== null && { [metadataField]: entry.metadata_value }),
    ...numbersOf((name) => entry[name]),
  };
}

const totalsOf = (entries: readonly UsageEntry[]): UsageNumbers =>
  numbersOf((name) => entries.reduce((sum, entry) => sum + entry[name], 0));

const numbersOf = (valueOf: (name: (typeof NUMBER_NAMES)[number]) => number): UsageNumbers =>
  Object.fromEntries(NUMBER_NAMES.map((name) => [name, valueOf(name)])) as UsageNumbers;
