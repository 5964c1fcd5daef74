import { Body, Controller, Delete, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import {
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiTags,
} from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import { listOf, toList } from '../../platform/schema/list-of.ts';
import { ReasonInput } from '../views/reason.input.ts';
import { ListPausesQuery, CreatePauseInput } from './pause.inputs.ts';
import { PauseView } from './pause.view.ts';
import { PausesService } from './pauses.service.ts';
import { Fails } from '../../platform/openapi/faults.ts';

class PauseListView extends listOf(PauseView, 'newest first') {}

@ApiTags('Operations')
@Controller('v1/operations/pauses')
export class PausesController {
  constructor(private readonly pauses: PausesService) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({ summary: 'List the pauses, newest first', operationId: 'listPauses' })
  @ApiOkResponse({ type: PauseListView })
  async list(@Query() { limit = 20, after, ended }: ListPausesQuery): Promise<PauseListView> {
    const page = { limit, ended: ended === 'true', ...(after !== undefined && { after }) };
    const { pauses, hasMore } = await this.pauses.list(page);
    return toList(pauses, hasMore, ({ id }) => id);
  }

  @Post()
  @RequireScope('operations:manage')
  @ApiOperation({ summary: 'Pause a model, a provider or one place of a provider', operationId: 'createPause' })
  @ApiCreatedResponse({ type: PauseView })
  create(@Body() input: CreatePauseInput, @CurrentActor() actor: Actor): Promise<PauseView> {
    return this.pauses.create(input, actor);
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('operations:manage')
  @Fails('pause_not_found')
  @ApiOperation({ summary: 'End a pause', operationId: 'endPause' })
  @ApiParam({ name: 'id', schema: { type: 'string' } })
  @ApiNoContentResponse({ description: 'The tasks that it held wait for a worker again.' })
  end(@Param('id') id: string, @Query() { reason }: ReasonInput, @CurrentActor() actor: Actor): Promise<void> {
    return this.pauses.end(id, because(actor, reason));
  }
}
