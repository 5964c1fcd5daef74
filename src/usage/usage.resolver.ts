import { UseGuards } from '@nestjs/common';
import { Args, Int, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { CurrentCaller } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { JsonScalar } from '../platform/schema/json-scalar.ts';
import { LongScalar } from '../platform/schema/long-scalar.ts';
import { checkArguments } from '../platform/http/input.pipe.ts';
import { textOfNames } from './grouping.ts';
import { UsageScopeGuard } from './usage-scope.guard.ts';
import { DEFAULT_BUCKETS, UsageQuery } from './usage.query.ts';
import { UsageService } from './usage.service.ts';
import { UsagePageView, UsageResultView } from './usage.view.ts';

const OPTIONAL = { nullable: true };

@Resolver(() => UsageResultView)
export class UsageResolver {
  constructor(private readonly service: UsageService) {}

  @Query(() => UsagePageView, { description: 'What tasks used and cost, over time.' })
  @UseGuards(UsageScopeGuard)
  async usage(
    @CurrentCaller() caller: Caller,
    @Args('startTime', { type: () => LongScalar, description: 'from this time on, unix seconds' }) start_time: number,
    @Args('endTime', { ...OPTIONAL, type: () => LongScalar, description: 'exclusive, unix seconds; now when left out' })
    end_time: number | null | undefined,
    @Args('bucketWidth', { ...OPTIONAL, type: () => String, description: '1h, 1d (default), 1M or all' })
    bucket_width: string | null | undefined,
    @Args('timezone', { ...OPTIONAL, type: () => String, description: 'IANA name; UTC when left out' })
    timezone: string | null | undefined,
    @Args('groupBy', {
      ...OPTIONAL,
      type: () => [String],
      description:
        'any of model, kind, provider, resolution, source, batch_id, error_code, api_key_id and one metadata.<key>',
    })
    group_by: string[] | null | undefined,
    @Args('apiKeyId', { ...OPTIONAL, type: () => String, description: 'another API key, or all; needs keys:manage' })
    api_key_id: string | null | undefined,
    @Args('limit', { type: () => Int, defaultValue: DEFAULT_BUCKETS, description: 'buckets per page, 1 to 400' })
    limit: number,
    @Args('page', { ...OPTIONAL, type: () => String, description: 'nextPage of the page before' })
    page: string | null | undefined,
  ): Promise<UsagePageView> {
    const names = group_by && group_by.length > 0 ? textOfNames(group_by) : undefined;
    const values = { start_time, end_time, bucket_width, timezone, group_by: names, api_key_id, limit, page };
    return this.service.page(caller.apiKeyId, checkArguments(UsageQuery, values));
  }

  /**
   * The metadata key and value of the group, as a map. REST names the field after the metadata key, but names of
   * GraphQL fields are fixed.
   */
  @ResolveField(() => JsonScalar, { nullable: true, description: 'the metadata key that is grouped by, and its value' })
  metadata(@Parent() result: UsageResultView): Record<string, string | null> | null {
    const [field, value] = Object.entries(result).find(([name]) => name.startsWith('metadata.')) ?? [];
    return field === undefined ? null : { [field.slice('metadata.'.length)]: value as string | null };
  }
}
