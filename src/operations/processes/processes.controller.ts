import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiOkResponse, ApiOperation, ApiParam, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, because, CurrentActor } from '../../auth/audit/actor.ts';
import { allOf, toAll } from '../views/all-of.ts';
import { ReasonInput } from '../views/reason.input.ts';
import { ProcessesService } from './processes.service.ts';
import { ProcessView } from './process.view.ts';
import { Fails } from '../../platform/openapi/faults.ts';

class ProcessListView extends allOf(ProcessView, 'by role, then by start') {}

const Id = ApiParam({ name: 'id', schema: { type: 'string' } });

@ApiTags('Operations')
@Controller('v1/operations/processes')
export class ProcessesController {
  constructor(private readonly processes: ProcessesService) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({ summary: 'List the processes of the service', operationId: 'listProcesses' })
  @ApiOkResponse({ type: ProcessListView })
  async list(): Promise<ProcessListView> {
    return toAll(await this.processes.list());
  }

  @Get(':id')
  @Id
  @RequireScope('operations:read')
  @Fails('process_not_found')
  @ApiOperation({ summary: 'Read a process', operationId: 'getProcess' })
  @ApiOkResponse({ type: ProcessView })
  find(@Param('id') id: string): Promise<ProcessView> {
    return this.processes.find(id);
  }

  @Post(':id/drain')
  @Id
  @HttpCode(200)
  @RequireScope('operations:manage')
  @Fails('process_not_found')
  @ApiOperation({ summary: 'Let a process claim no more tasks', operationId: 'drainProcess' })
  @ApiBody({ type: ReasonInput, required: false })
  @ApiOkResponse({ type: ProcessView })
  drain(@Param('id') id: string, @Body() { reason }: ReasonInput, @CurrentActor() actor: Actor): Promise<ProcessView> {
    return this.processes.drain(id, true, because(actor, reason));
  }

  @Post(':id/resume')
  @Id
  @HttpCode(200)
  @RequireScope('operations:manage')
  @Fails('process_not_found')
  @ApiOperation({ summary: 'Let a drained process claim tasks again', operationId: 'resumeProcess' })
  @ApiBody({ type: ReasonInput, required: false })
  @ApiOkResponse({ type: ProcessView })
  resume(@Param('id') id: string, @Body() { reason }: ReasonInput, @CurrentActor() actor: Actor): Promise<ProcessView> {
    return this.processes.drain(id, false, because(actor, reason));
  }
}
