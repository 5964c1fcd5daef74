import { Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { callerOf, type GuardedRequest, RequireScope } from '../../auth/access/access.ts';
import { requireJsonObject } from '../../platform/http/strict-json.ts';
import { EstimateView } from './estimate.view.ts';
import { GenerationEstimatesService } from './generation-estimates.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';
import { CREATION_SCHEMA } from '../accept/creation-schema.ts';

@ApiTags('Generations')
@Controller('v1/estimates')
export class GenerationEstimatesController {
  constructor(private readonly estimates: GenerationEstimatesService) {}

  @Post()
  @HttpCode(200)
  @RequireScope('tasks:read')
  @Fails(
    'model_not_found',
    'model_not_allowed',
    'unsupported_parameter',
    'file_not_found',
    'file_expired',
    'url_not_allowed',
    'invalid_url',
    'invalid_image',
    'upload_incomplete',
  )
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
