import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { OperatorWebhooks } from './operator-webhooks.ts';
import { OperatorWebhooksView } from './operator-webhooks.view.ts';

@ApiTags('Operations')
@Controller('v1/operations/webhooks')
export class OperatorWebhooksController {
  constructor(private readonly service: OperatorWebhooks) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({ summary: 'See how the webhooks of all API keys are doing', operationId: 'getOperatorWebhooks' })
  @ApiOkResponse({ type: OperatorWebhooksView })
  overview(): Promise<OperatorWebhooksView> {
    return this.service.overview();
  }
}
