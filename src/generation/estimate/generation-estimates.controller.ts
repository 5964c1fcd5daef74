import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { callerOf, type GuardedRequest, RequireScope } from '../../auth/access/access.ts';
import { requireJsonObject } from '../../platform/http/strict-json.ts';
import { EstimateView } from './estimate.view.ts';
import { GenerationEstimatesService } from './generation-estimates.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { REQUEST_FAULTS } from '../accept/creation-faults.ts';
import { CREATION_SCHEMA } from '../accept/creation-schema.ts';

@ApiTags('Generations')
@Controller('v1/estimates')
export class GenerationEstimatesController {
  constructor(private readonly estimates: GenerationEstimatesService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('tasks:read')
  @Fails(...REQUEST_FAULTS)
  @ApiOperation({
    summary: 'Estimate what a generation would cost, without creating it',
    operationId: 'estimateGeneration',
  })
  @ApiBody({ schema: CREATION_SCHEMA })
  @ApiOkResponse({ type: EstimateView })
  estimate(@Req() request: FastifyRequest & GuardedRequest): Promise<EstimateView> {
    return this.estimates.estimate(callerOf(request), requireJsonObject(request.body));
  }
}
