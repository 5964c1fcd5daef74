import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { allOf, toAll } from '../views/all-of.ts';
import { KeyQueueView } from './key-queue.view.ts';
import { KeyQueues } from './key-queues.ts';

class KeyQueueListView extends allOf(KeyQueueView, 'those with most unfinished tasks first, 100 at most') {}

@ApiTags('Operations')
@Controller('v1/operations/keys')
export class KeyQueuesController {
  constructor(private readonly service: KeyQueues) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({
    summary: 'List the API keys with unfinished tasks, refusals or failures',
    operationId: 'listKeyQueues',
  })
  @ApiOkResponse({ type: KeyQueueListView })
  async list(): Promise<KeyQueueListView> {
    return toAll(await this.service.list());
  }
}
