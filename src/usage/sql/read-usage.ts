import { Injectable } from '@nestjs/common';
import { hidden } from '../../platform/database/planner.ts';
import { Sql, type Statement } from '../../platform/database/sql.ts';
import type { Pieces, Range } from '../buckets/pieces.ts';
import { DIMENSIONS, NUMBER_LIST, NUMBER_NAMES, NUMBERS, type UsageNumber } from './sum-columns.ts';

export const GROUPS = [...DIMENSIONS, 'api_key_id', 'metadata_value'] as const;
export type Group = (typeof GROUPS)[number];

export interface UsageRequest {
  /** null: every API key. */
  apiKeyId: string | null;
  groups: readonly Group[];
  /** The metadata key of the group `metadata_value`. */
  metadataKey: string | null;
  buckets: readonly Range[];
  pieces: Pieces;
  limit: number;
}

export type UsageNumbers = Record<UsageNumber, number>;
export type UsageEntry = UsageNumbers & { bucket: number } & Record<Group, string | null>;

const RANGES = ['$1', '$2', '$3', '$4'] as const;
/**
 * SQL: one list of ranges as rows, with times in unix seconds. Each list is one JSON parameter, because lists of
 * columns would need sixteen parameters in all.
 */
const range = (parameter: string): string =>
  `json_to_recordset(${parameter}::json) as p(bucket int, since float8, until float8, weight int)`;
const within = (column: string): string => `${column} >= to_timestamp(p.since) and ${column} < to_timestamp(p.until)`;

/**
 * SQL that makes PostgreSQL search the index once for each range. Without it, a join read the rows of all buckets for
 * each bucket: 375 ms for 400 days.
 */
const EACH_BUCKET = 'offset 0';

/**
 * Adds up sums of days and quarters of an hour, and two kinds of ledger rows: those that no sum contains, and those at
 * the ends of the buckets. One statement is one snapshot, so a row that is added to the sums meanwhile counts once. For
 * a group by metadata, the tasks without the key are all tasks minus those with it.
 */
function statementFor({ apiKeyId, groups, metadataKey }: UsageRequest): Statement {
  const values = [RANGES.length + 1, RANGES.length + 2, RANGES.length + 3];
  const [limit, key, metadata] = values.map((nth) => `$${nth}`);
  const ofKey = (table: string) => (apiKeyId === null ? `${key}::text is null` : `${table}.api_key_id = ${key}`);
  // For all API keys, the columns are written as in the index by time, which is on expressions. No other index fits.
  const sums = (column: string) => (apiKeyId === null ? hidden(`s.${column}`) : `s.${column}`);
  const withMetadata = metadataKey !== null;
  const grouped = groups.length > 0 ? `, ${groups.join(', ')}` : '';
  const fromSums = (parameter: string, span: string) => `
      select p.bucket, s.api_key_id, ${DIMENSIONS.map((name) => `s.${name}`).join(', ')}, v.metadata_value,
             ${NUMBER_NAMES.map((name) => `s.${name} * v.weight * p.weight as ${name}`).join(', ')}
      from ${range(parameter)} cross join lateral (
        select * from usage_sums s
        where ${sums('span')} = '${span}' and ${ofKey('s')} and ${within('s.starts_at')}
          and ${withMetadata ? `${sums('metadata_key')} in ('', ${metadata})` : `${sums('metadata_key')} = '' and ${metadata}::text is null`}
        ${EACH_BUCKET}
      ) s cross join lateral (
        select s.metadata_value, 1 as weight
        ${withMetadata ? `union all select null, -1 where s.metadata_key <> ''` : ''}
      ) v`;
  const fromLedger = (parameter: string, condition: string) => `
      select p.bucket, l.api_key_id, ${DIMENSIONS.map((name) => `l.${name}`).join(', ')},
             ${withMetadata ? `l.metadata->>${metadata}` : 'null'}, ${NUMBER_NAMES.map((name) => NUMBERS[name]).join(', ')}
      from ${range(parameter)} cross join lateral (
        select * from usage_ledger l where ${condition} and ${ofKey('l')} and ${within('l.completed_at')} ${EACH_BUCKET}
      ) l`;
  return {
    name: ['usage.read', apiKeyId === null ? 'all' : 'one', ...groups.map((name) => name.slice(0, 4))].join(' '),
    isUnprepared: true,
    text: `
    select bucket${grouped}, ${NUMBER_NAMES.map((name) => `sum(${name})::float8 as ${name}`).join(', ')}
    from (
      ${[fromSums('$1', 'day'), fromSums('$2', 'quarter'), fromLedger('$3', 'l.rolled_up'), fromLedger('$4', 'not l.rolled_up')].join('\n      union all')}
    ) entries(bucket, api_key_id, ${DIMENSIONS.join(', ')}, metadata_value, ${NUMBER_LIST})
    group by bucket${grouped}
    having sum(tasks) <> 0
    order by bucket, sum(tasks) desc${grouped}
    limit ${limit}::int`,
  };
}

/**
 * Raw SQL because one statement reads four sources. It is planned each time, because its parts depend on the request.
 */
@Injectable()
export class ReadUsage {
  constructor(private readonly sql: Sql) {}

  /** The numbers in the order of the buckets. A bucket without tasks has no entry. */
  read(request: UsageRequest): Promise<UsageEntry[]> {
    const { pieces, buckets, limit, apiKeyId, metadataKey } = request;
    const ranges = [pieces.days, pieces.quarters, pieces.edges, buckets].map((list) => JSON.stringify(list));
    return this.sql.run<UsageEntry>(statementFor(request), [...ranges, limit, apiKeyId, metadataKey]);
  }
}
