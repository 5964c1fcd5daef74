import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { callerOf, Scope } from '../../auth/access.ts';
import type { GuardedRequest } from '../../auth/guarded-request.ts';
import { MODELS } from '../../models/catalog.ts';
import { requireJsonObject } from '../../platform/http/json/json-body.ts';
import { EstimateView } from './estimate.view.ts';
import { GenerationEstimatesService } from './generation-estimates.service.ts';

@ApiTags('Generations')
@Controller('v1/estimates')
export class GenerationEstimatesController {
  constructor(private readonly estimates: GenerationEstimatesService) {}

  @Post()
  @HttpCode(200)
  @Scope('tasks:read')
  @ApiOperation({
    summary: 'Estimate what a generation would cost, without creating it',
    operationId: 'estimateGeneration',
  })
  @ApiBody({ schema: { oneOf: MODELS.map(({ parameters }) => parameters as object) } })
  @ApiOkResponse({ type: EstimateView })
  estimate(@Req() request: FastifyRequest & GuardedRequest): Promise<EstimateView> {
    return this.estimates.estimate(callerOf(request), requireJsonObject(request.body));
  }
}
