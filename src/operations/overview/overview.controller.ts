import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Scope } from '../../auth/access.ts';
import { allOf, toAll } from '../all-of.ts';
import { KeyQueueView, OperationsOverviewView } from './overview.view.ts';
import { OverviewService } from './overview.service.ts';

class KeyQueueListView extends allOf(KeyQueueView, 'those with most unfinished tasks first, 100 at most') {}

@ApiTags('Operations')
@Controller('v1/operations')
@Scope('operations:read')
export class OverviewController {
  constructor(private readonly service: OverviewService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'See how the service is doing', operationId: 'getOperations' })
  @ApiOkResponse({ type: OperationsOverviewView })
  overview(): Promise<OperationsOverviewView> {
    return this.service.overview();
  }

  @Get('keys')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the API keys with unfinished tasks', operationId: 'listKeyQueues' })
  @ApiOkResponse({ type: KeyQueueListView })
  async keys(): Promise<KeyQueueListView> {
    return toAll(await this.service.keys());
  }
}
