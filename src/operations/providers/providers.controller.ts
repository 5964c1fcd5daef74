import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import { allOf, toAll } from '../views/all-of.ts';
import { ReasonInput } from '../views/reason.input.ts';
import { ProviderPlaceView } from './provider-place.view.ts';
import { OperatorProviders } from './operator-providers.ts';
import { Fails } from '../../platform/openapi/faults.ts';

class ProviderPlaceListView extends allOf(ProviderPlaceView, 'by number') {}

@ApiTags('Operations')
@Controller('v1/operations/providers')
export class ProvidersController {
  constructor(private readonly providers: OperatorProviders) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({ summary: 'List the places of the providers', operationId: 'listProviderPlaces' })
  @ApiOkResponse({ type: ProviderPlaceListView })
  async list(): Promise<ProviderPlaceListView> {
    return toAll(await this.providers.list());
  }

  @Post(':place/close_circuit')
  @HttpCode(200)
  @RequireScope('operations:manage')
  @Fails('place_not_found')
  @ApiOperation({
    summary: 'Close the circuit of a place, so that all processes call it again',
    operationId: 'closeCircuit',
  })
  @ApiBody({ type: ReasonInput, required: false })
  @ApiParam({ name: 'place', schema: { type: 'string' } })
  @ApiOkResponse({ type: ProviderPlaceView })
  closeCircuit(
    @Param('place') place: string,
    @Body() { reason }: ReasonInput,
    @CurrentActor() actor: Actor,
  ): Promise<ProviderPlaceView> {
    return this.providers.closeCircuit(place, because(actor, reason));
  }
}
