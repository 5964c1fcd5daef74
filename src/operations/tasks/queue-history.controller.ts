import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { allOf, toAll } from '../views/all-of.ts';
import { minutesOf, QueueHistoryQuery, QueueMinuteView } from './queue-history.view.ts';
import { QueueSamples } from './sql/queue-samples.ts';

class QueueHistoryView extends allOf(QueueMinuteView, 'every minute, the oldest first') {}

@ApiTags('Operations')
@Controller('v1/operations/queue_history')
export class QueueHistoryController {
  constructor(private readonly samples: QueueSamples) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({ summary: 'See what the queue looked like in the last minutes', operationId: 'getQueueHistory' })
  @ApiOkResponse({ type: QueueHistoryView })
  async history(@Query() query: QueueHistoryQuery): Promise<QueueHistoryView> {
    return toAll(await this.samples.last(minutesOf(query)));
  }
}
