import { Controller, Get, Query, UseGuards } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller } from '../auth/access/access.ts';
import type { Caller } from '../auth/access/caller.ts';
import { UsageScopeGuard } from './usage-scope.guard.ts';
import { UsageQuery } from './usage.query.ts';
import { UsageService } from './usage.service.ts';
import { UsagePageView } from './usage.view.ts';

@ApiTags('Usage')
@Controller('v1/usage')
@UseGuards(UsageScopeGuard)
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get()
  @ApiOperation({ summary: 'What tasks used and cost, over time', operationId: 'getUsage' })
  @ApiOkResponse({ type: UsagePageView })
  page(@CurrentCaller() caller: Caller, @Query() query: UsageQuery): Promise<UsagePageView> {
    return this.usage.page(caller.apiKeyId, query);
  }
}
