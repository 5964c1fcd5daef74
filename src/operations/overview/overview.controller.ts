import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { OperationsOverviewView } from './overview.view.ts';
import { OverviewService } from './overview.service.ts';

@ApiTags('Operations')
@Controller('v1/operations')
@RequireScope('operations:read')
export class OverviewController {
  constructor(private readonly service: OverviewService) {}

  @Get()
  @ApiOperation({ summary: 'See how the service is doing', operationId: 'getOperations' })
  @ApiOkResponse({ type: OperationsOverviewView })
  overview(): Promise<OperationsOverviewView> {
    return this.service.overview();
  }
}
