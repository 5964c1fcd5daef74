import { Body, Controller, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { RequireScope } from '../../auth/access/access.ts';
import { type Actor, CurrentActor } from '../../auth/audit/actor.ts';
import { LogLevelsService } from './log-levels.service.ts';
import { LogLevelsView, SetLogLevelsInput } from './log-levels.view.ts';

@ApiTags('Operations')
@Controller('v1/operations/log_levels')
export class LogLevelsController {
  constructor(private readonly service: LogLevelsService) {}

  @Get()
  @RequireScope('operations:read')
  @ApiOperation({ summary: 'Read the log levels that an operator has set', operationId: 'getLogLevels' })
  @ApiOkResponse({ type: LogLevelsView })
  read(): Promise<LogLevelsView> {
    return this.service.read();
  }

  @Put()
  @RequireScope('operations:manage')
  @ApiOperation({ summary: 'Set the log levels of all processes', operationId: 'setLogLevels' })
  @ApiOkResponse({ type: LogLevelsView })
  set(@Body() input: SetLogLevelsInput, @CurrentActor() actor: Actor): Promise<LogLevelsView> {
    return this.service.set(input, actor);
  }
}
