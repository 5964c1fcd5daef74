import { ObjectType } from '@nestjs/graphql';
import { ApiError } from '../../errors/api-error.ts';
import { connectionOf } from '../../platform/graphql/connection.ts';
import { ApiField } from '../../platform/schema/api-field.ts';
import { defineChoice } from '../../platform/schema/choice.ts';
import { listOf } from '../../platform/schema/list-of.ts';
import { typeIdPattern } from '../../platform/schema/type-id.ts';
import { unixSeconds } from '../../platform/schema/time.ts';
import { ERASED, type Erased } from './erasure-step.ts';
import type { Erasure } from './erasure.entity.ts';

const MAX_PAGE = 100;
const AFTER = { regex: typeIdPattern('erasure'), message: 'after must be the id of an erasure' };

const StatusChoice = defineChoice('ErasureStatus', ['running', 'completed'], 'How far an erasure is.');

/**
 * Where copies may remain, because the service has given them away or cannot reach them. docs/guides/erasure.md says
 * what to do about each of these.
 */
const OUT_OF_REACH = [
  'providers',
  'webhook_receivers',
  'backups',
  'bucket_versions',
  'logs',
  'database_space',
] as const;
const OutOfReachChoice = defineChoice('ErasureOutOfReach', OUT_OF_REACH, 'Where texts of an erased key may remain.');

@ObjectType('ErasureCounts', { description: 'What an erasure has erased so far.' })
export class ErasureCountsView implements Record<Erased, number> {
  @ApiField.long('tasks, with input, result and timeline') tasks: number;
  @ApiField.long('outputs of these tasks') files: number;
  @ApiField.long('uploaded files') uploads: number;
  @ApiField.long('shares') shares: number;
  @ApiField.long('stored answers to requests with an Idempotency-Key') idempotency_keys: number;
  @ApiField.long('synchronous calls') calls: number;
  @ApiField.long('batches') batches: number;
  @ApiField.long('webhook endpoints, with their secrets') webhook_endpoints: number;
  @ApiField.long('webhook events') webhook_events: number;
  @ApiField.long('attempts to deliver them') webhook_deliveries: number;
  @ApiField.long('records of usage that lost their metadata; their numbers stay') usage_records: number;
  @ApiField.long('browser sessions') sessions: number;
  @ApiField.long('audit events that lost names and addresses of the key') audit_events: number;
}

@ObjectType('Erasure', { description: 'The erasure of everything that was sent with an API key or made for it.' })
export class ErasureView {
  @ApiField.string('identifier', { example: 'erasure_01jd8e5t9kf3qs7m2v4xw6yzab' }) id: string;
  @ApiField.constant('erasure') object: 'erasure';
  @ApiField.string('the erased API key') api_key_id: string;
  @ApiField.oneOf(StatusChoice, 'how far it is') status: 'running' | 'completed';
  @ApiField.object(() => ErasureCountsView, 'what is erased so far') counts: ErasureCountsView;
  @ApiField.list(OutOfReachChoice, 'where texts of the key may remain, because the service cannot erase there')
  out_of_reach: (typeof OUT_OF_REACH)[number][];
  @ApiField.long('unix seconds') created_at: number;
  @ApiField.string('the API key that ordered it; null: the command line', { nullable: true }) created_by: string | null;
  @ApiField.long('unix seconds; null while it runs', { nullable: true }) finished_at: number | null;
}

export class ErasureListView extends listOf(ErasureView, 'newest first') {}
export const ErasureConnection = connectionOf(ErasureView, 'Erasure');

export class ListErasuresQuery {
  @ApiField.integer('erasures per page', { optional: true, min: 1, max: MAX_PAGE, default: 20, fromQuery: true })
  limit?: number;
  @ApiField.string('`last_id` of the previous page', { optional: true, pattern: AFTER })
  after?: string;
}

/**
 * Checks the syntax of a cursor in a GraphQL argument. Such arguments have no input class that would check it.
 * @throws ApiError invalid_value
 */
export function assertErasureAfter(after: string | null | undefined): string | undefined {
  if (typeof after !== 'string') return undefined;
  if (!AFTER.regex.test(after)) throw new ApiError('invalid_value', { param: 'after', message: `${AFTER.message}.` });
  return after;
}

export const toErasureView = (erasure: Erasure): ErasureView => ({
  id: erasure.id,
  object: 'erasure',
  api_key_id: erasure.api_key_id,
  status: erasure.finished_at ? 'completed' : 'running',
  counts: Object.fromEntries(ERASED.map((what) => [what, erasure.counts[what] ?? 0])) as Record<Erased, number>,
  out_of_reach: [...OUT_OF_REACH],
  created_at: unixSeconds(erasure.created_at),
  created_by: erasure.created_by,
  finished_at: erasure.finished_at && unixSeconds(erasure.finished_at),
});
